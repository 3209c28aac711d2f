//! Tests of rate limits, the block after failures, and their headers.

use axum::body::Body;
use axum::http::Method;
use expect_test::expect;
use serde_json::json;
use testkit::app::TestApp;

#[tokio::test]
async fn every_answer_says_where_the_caller_stands() {
    let app = TestApp::start().await;
    let reply = app.admin().get("/api_keys").await;
    assert_eq!(reply.header("x-ratelimit-limit-requests"), "3000");
    assert_eq!(reply.header("x-ratelimit-remaining-requests"), "2999");
    let resets: i64 = reply.header("x-ratelimit-reset-requests").parse().unwrap();
    let now = app.clock.now_s();
    assert!(now < resets && resets <= now + 61, "{resets}");
    assert_eq!(reply.header("x-service-balance-usd"), "10");
    assert_eq!(reply.header("x-service-balance-diem"), "0");
}

#[tokio::test]
async fn going_too_fast_is_refused_until_the_promised_moment() {
    let app = TestApp::start().await;
    let body = json!({"apiKeyType": "INFERENCE", "description": "many"});
    for _ in 0..20 {
        assert_eq!(app.admin().post("/api_keys", &body).await.status, 200);
    }
    let refused = app.admin().post("/api_keys", &body).await;
    assert_eq!(refused.status, 429);
    assert_eq!(refused.header("x-ratelimit-remaining-requests"), "0");
    let wait: u64 = refused.header("retry-after").parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    app.clock.advance_s(wait);
    assert_eq!(app.admin().post("/api_keys", &body).await.status, 200);
}

#[tokio::test]
async fn more_than_twenty_failures_block_the_caller_for_thirty_seconds() {
    let app = TestApp::start().await;
    for _ in 0..21 {
        assert_eq!(app.admin().get("/api_keys/unknown").await.status, 400);
    }
    let blocked = app.admin().get("/api_keys").await;
    blocked.expect(expect![[
        r#"429 {"error":"Too many failed attempts (> 20) resulting in a non-success status code. Please wait 30s and try again."}"#
    ]]);
    assert_eq!(blocked.header("retry-after"), "30");
    let other = app.inference().await;
    assert_eq!(other.get("/api_keys/rate_limits").await.status, 200, "others are not blocked");
    app.clock.advance_s(30);
    assert_eq!(app.admin().get("/api_keys").await.status, 200);
}

#[tokio::test]
async fn agents_that_are_out_of_money_or_look_for_a_model_are_not_blocked() {
    let app = TestApp::start().await;
    let (_, poor) = app.funded_account("poor", "0.00000001").await;
    let message = json!([{"role": "user", "content": "Say hello"}]);
    for _ in 0..25 {
        let body = json!({"model": "kimi-k3", "messages": message});
        assert_eq!(poor.post("/chat/completions", &body).await.status, 402);
        let body = json!({"model": "no-such-model", "messages": message});
        assert_eq!(poor.post("/chat/completions", &body).await.status, 404);
        let nowhere = poor.send_raw(Method::GET, "/api/v1/nowhere", Body::empty()).await;
        assert_eq!(nowhere.status, 404);
    }
    assert_eq!(poor.get("/api_keys/rate_limits").await.status, 200);
}

#[tokio::test]
async fn a_malformed_request_that_is_repeated_counts_once_in_ten() {
    let app = TestApp::start().await;
    let (_, agent) = app.funded_account("agent", "1").await;
    let bad = |number: u32| json!({"model": "kimi-k3", "messages": number});
    for _ in 0..30 {
        assert_eq!(agent.post("/chat/completions", &bad(0)).await.status, 400);
    }
    for number in 1..18 {
        assert_eq!(agent.post("/chat/completions", &bad(number)).await.status, 400);
    }
    assert_eq!(agent.get("/api_keys/rate_limits").await.status, 200);
    assert_eq!(agent.post("/chat/completions", &bad(18)).await.status, 400);
    assert_eq!(agent.get("/api_keys/rate_limits").await.status, 429);
}

#[tokio::test]
async fn being_blocked_does_not_prolong_the_block() {
    let app = TestApp::start().await;
    for _ in 0..21 {
        app.admin().get("/api_keys/unknown").await;
    }
    for _ in 0..29 {
        app.clock.advance_s(1);
        assert_eq!(app.admin().get("/api_keys").await.status, 429);
    }
    app.clock.advance_s(1);
    assert_eq!(app.admin().get("/api_keys").await.status, 200);
}

#[tokio::test]
async fn bad_keys_are_counted_for_the_address_they_come_from() {
    let app = TestApp::start().await;
    for _ in 0..21 {
        assert_eq!(app.anonymous().with_bearer("guess").get("/api_keys").await.status, 401);
    }
    assert_eq!(app.anonymous().get("/models").await.status, 429);
    assert_eq!(app.admin().get("/api_keys").await.status, 200, "a good key is its own caller");
}

#[tokio::test]
async fn unknown_keys_of_an_address_are_looked_up_a_bounded_number_of_times() {
    let app = TestApp::start().await;
    let mut unused = Vec::new();
    for _ in 0..3 {
        let key = json!({"apiKeyType": "INFERENCE", "description": "unused"});
        unused.push(
            app.anonymous().with_bearer(app.create_key(&key).await["apiKey"].as_str().unwrap()),
        );
    }
    let guess = async |index: usize| {
        let guess = app.anonymous().with_bearer(&format!("guess-{index}"));
        let reply = guess.send_raw(Method::GET, "/api/v1/nowhere", Body::empty()).await;
        assert!(matches!(reply.status, 404 | 429), "{}", reply.status);
    };
    for index in 0..99 {
        guess(index).await;
    }
    for known in &unused[..2] {
        assert_eq!(known.get("/api_keys/rate_limits").await.status, 200, "it counts nothing");
    }
    guess(99).await;
    unused[2].get("/api_keys/rate_limits").await.expect(expect![[
        r#"429 {"error":"Too many unknown API keys came from this address. Please try again shortly."}"#
    ]]);
    assert_eq!(unused[0].get("/api_keys/rate_limits").await.status, 200, "it is cached");
    app.clock.advance_s(60);
    assert_eq!(unused[2].get("/api_keys/rate_limits").await.status, 200);
}

#[tokio::test]
async fn keys_cannot_be_guessed_at_documents_that_need_none() {
    let app = TestApp::start().await;
    for path in ["/api/v1/openapi.json", "/v1/openapi.json", "/api/v1/doc/api/swagger.yaml"] {
        for _ in 0..7 {
            let guess = app.anonymous().with_bearer("guess");
            let reply = guess.send_raw(Method::GET, path, Body::empty()).await;
            assert_eq!((reply.status, reply.header("x-ratelimit-type")), (200, "global"));
        }
    }
    assert_eq!(app.anonymous().get("/models").await.status, 429);
    let good = app.inference().await;
    let shown = good.send_raw(Method::GET, "/api/v1/openapi.json", Body::empty()).await;
    assert_eq!(shown.header("x-ratelimit-type"), "global", "no key is looked at");
    assert_eq!(good.get("/api_keys/rate_limits").await.status, 200);
}

#[tokio::test]
async fn the_balance_shown_is_no_more_than_the_keys_own_limit_leaves() {
    let app = TestApp::start().await;
    let limited =
        json!({"apiKeyType": "INFERENCE", "description": "x", "consumptionLimit": {"usd": 2.5}});
    let made = app.create_key(&limited).await;
    let caller = app.anonymous().with_bearer(made["apiKey"].as_str().unwrap());
    let reply = caller.get("/api_keys/rate_limits").await;
    assert_eq!(reply.header("x-service-balance-usd"), "2.5");
}

const NAMES: [&str; 6] = [
    "x-ratelimit-limit-requests",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-reset-requests",
    "x-ratelimit-limit-tokens",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-reset-tokens",
];

#[tokio::test]
async fn refusals_say_where_the_caller_stands_too() {
    let app = TestApp::start().await;
    let chat =
        |model: &str| json!({"model": model, "messages": [{"role": "user", "content": "x"}]});
    let poor = app.another_account("poor").await;
    let cases = [
        (400, app.admin().post("/chat/completions", &json!({"model": "qwen3:4b"})).await),
        (404, app.admin().post("/chat/completions", &chat("no-such-model")).await),
        (410, app.admin().post("/chat/completions", &chat("gpt-j-6b")).await),
        (402, poor.post("/chat/completions", &chat("qwen3:4b")).await),
    ];
    for (status, reply) in cases {
        assert_eq!(reply.status, status);
        for name in NAMES {
            assert!(reply.headers.contains_key(name), "{status}: {name}");
        }
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_chainId"});
    let inference = app.inference().await;
    let cases = [
        (401, inference.get("/api_keys").await),
        (404, inference.get("/models/no-such-model").await),
        (200, inference.post("/crypto/rpc/ethereum-mainnet", &body).await),
        (400, inference.post("/crypto/rpc/nowhere", &body).await),
    ];
    for (status, reply) in &cases {
        assert_eq!(reply.status, *status, "{}", reply.text());
        if *status != 404 {
            for name in &NAMES[..3] {
                assert!(reply.headers.contains_key(*name), "{status}: {name}");
            }
        }
    }
    assert_eq!(cases[2].1.header("x-ratelimit-remaining-requests"), "99");
}

#[tokio::test]
async fn callers_without_a_credential_see_the_limits_of_their_address() {
    let app = TestApp::start().await;
    let chat = json!({"model": "qwen3:4b", "messages": [{"role": "user", "content": "x"}]});
    let stranger = app.anonymous();
    let wrong = stranger.with_bearer("SERVICE_INFERENCE_KEY_wrong");
    let document = |path| stranger.send_raw(Method::GET, path, Body::empty());
    let cases = [
        (402, stranger.post("/chat/completions", &chat).await),
        (401, wrong.post("/chat/completions", &chat).await),
        (401, stranger.get("/api_keys").await),
        (404, document("/api/v1/nowhere").await),
        (200, document("/api/v1/openapi.json").await),
        (200, document("/v1/openapi.json").await),
        (200, document("/api/v1/doc/api/swagger.yaml").await),
    ];
    for (status, reply) in &cases {
        assert_eq!(reply.status, *status, "{}", reply.text());
        for name in &NAMES[..3] {
            assert!(0 < reply.header(name).parse::<u64>().unwrap(), "{status}: {name}");
        }
        assert_eq!(reply.header("x-ratelimit-type"), "global", "{status}");
    }
    let own = app.admin().send_raw(Method::GET, "/api/v1/openapi.json", Body::empty()).await;
    assert_eq!(own.header("x-ratelimit-type"), "user");
}

#[tokio::test]
async fn a_request_that_is_refused_for_its_fields_names_the_limits_of_its_model() {
    let app = TestApp::start().await;
    let body = json!({"model": "qwen3:4b", "messages": [{"role": "user", "content": "x"}],
        "logprobs": true});
    let reply = app.admin().post("/chat/completions", &body).await;
    assert_eq!(reply.status, 400);
    assert_eq!(reply.header("x-ratelimit-limit-requests"), "500", "of a model of size XS");
    assert_eq!(reply.header("x-ratelimit-remaining-requests"), "500", "it did not count");
}

#[tokio::test]
async fn every_429_says_when_requests_are_taken_again() {
    let app = TestApp::start().await;
    for _ in 0..21 {
        app.admin().get("/api_keys/unknown").await;
    }
    let blocked = app.admin().get("/api_keys").await;
    assert_eq!(blocked.status, 429);
    let resets: i64 = blocked.header("x-ratelimit-reset-requests").parse().unwrap();
    assert_eq!(resets, app.clock.now_s() + 30);
    let log = app.inference().await;
    assert_eq!(log.get("/api_keys/rate_limits").await.status, 200);
    app.settle_tasks().await;
    app.clock.advance_s(30);
    let log = app.admin().get("/api_keys/rate_limit_logs").await.ok_json();
    assert_eq!(log["data"][0]["rateLimitType"], "FAILED_REQUESTS");
    assert_eq!(log["data"][0]["modelId"], "endpoint:api/v1/api_keys");
}

#[tokio::test]
async fn the_log_names_the_proxy_without_its_network() {
    let app = TestApp::start().await;
    let caller = app.admin();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_chainId"});
    for _ in 0..100 {
        caller.post("/crypto/rpc/ethereum-mainnet", &body).await;
    }
    assert_eq!(caller.post("/crypto/rpc/ethereum-mainnet", &body).await.status, 429);
    app.settle_tasks().await;
    let log = app.admin().get("/api_keys/rate_limit_logs").await.ok_json();
    assert_eq!(log["data"][0]["modelId"], "endpoint:api/v1/crypto/rpc");
}

#[tokio::test]
async fn methods_that_there_are_not_count_as_failures_and_paths_do_not() {
    let app = TestApp::start().await;
    let send = async |method: &str, path: &str| {
        let method = method.parse().unwrap();
        app.admin().send_raw(method, path, axum::body::Body::empty()).await
    };
    for _ in 0..21 {
        assert_eq!(send("GET", "/nowhere").await.status, 404);
        assert_eq!(send("PUT", "/api/v1/models").await.status, 405);
    }
    let blocked = send("GET", "/nowhere").await;
    assert_eq!(blocked.status, 429);
    let resets: i64 = blocked.header("x-ratelimit-reset-requests").parse().unwrap();
    assert_eq!(resets, app.clock.now_s() + 30);
    assert_eq!(app.admin().get("/api_keys").await.status, 429, "the key is blocked everywhere");
}
