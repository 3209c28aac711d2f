//! Rate limits, the block after failures, and the headers that tell of them.

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
        assert_eq!(app.anonymous().bearer("guess").get("/api_keys").await.status, 401);
    }
    assert_eq!(app.anonymous().get("/models").await.status, 429);
    assert_eq!(app.admin().get("/api_keys").await.status, 200, "a good key is its own caller");
}

#[tokio::test]
async fn the_balance_shown_is_no_more_than_the_keys_own_limit_leaves() {
    let app = TestApp::start().await;
    let limited =
        json!({"apiKeyType": "INFERENCE", "description": "x", "consumptionLimit": {"usd": 2.5}});
    let made = app.create_key(&limited).await;
    let caller = app.anonymous().bearer(made["apiKey"].as_str().unwrap());
    let reply = caller.get("/api_keys/rate_limits").await;
    assert_eq!(reply.header("x-service-balance-usd"), "2.5");
}
