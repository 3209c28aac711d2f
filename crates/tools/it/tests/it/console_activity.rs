//! Tests of the console's request list, the limits of a key, and the operator's name.

use axum::body::Body;
use axum::http::Method;
use ledger_core::EntryId;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::{TestClient, TestReply};
use testkit::media_engine::small_video;

use crate::chat::{PATH, ask};
use crate::console::signed_in;
use crate::video_queue::{private, queue};

async fn get(page: &TestClient, path: &str) -> TestReply {
    page.send_raw(Method::GET, path, Body::empty()).await
}

/// A session of an INFERENCE key of the account `default`, and the key's id.
async fn key_page(app: &TestApp, body: &Value) -> (TestClient, TestClient, String) {
    let made = app.create_key(body).await;
    let secret = made["apiKey"].as_str().unwrap();
    let (page, _) = signed_in(app, secret).await;
    (page, app.anonymous().with_bearer(secret), made["id"].as_str().unwrap().to_owned())
}

async fn chat(caller: &TestClient) -> String {
    let reply = caller.post(PATH, &ask("kimi-k3", &json!({}))).await;
    reply.ok_json();
    reply.header("x-request-id").to_owned()
}

#[tokio::test]
async fn requests_are_found_by_key_model_status_id_and_time() {
    let app = TestApp::start().await;
    let (page, _) = signed_in(&app, app.admin_secret()).await;
    let (_, caller, key) =
        key_page(&app, &json!({"apiKeyType": "INFERENCE", "description": "calls"})).await;
    app.charge("0.10").await;
    let start = app.clock.now_text();
    app.clock.advance_s(3600);
    app.charge("0.20").await;
    let id = chat(&caller).await;
    app.settle_tasks().await;

    let all = get(&page, "/console/activity").await.ok_json();
    assert_eq!((&all["total"], &all["isCut"]), (&json!(3), &json!(false)));
    let names: Vec<&str> = all["filters"]["keys"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["description"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"calls") && names.contains(&"first"), "{names:?}");
    assert!(all["filters"]["models"].as_array().unwrap().contains(&json!("test-model")));

    let total = async |query: &str| {
        let found = get(&page, &format!("/console/activity?{query}")).await.ok_json();
        assert_eq!(found["total"], found["data"].as_array().unwrap().len(), "{query}");
        found["total"].as_u64().unwrap()
    };
    assert_eq!(total(&format!("key={key}")).await, 1);
    assert_eq!(total("model=test-model").await, 2);
    assert_eq!(total("model=no-such-model").await, 0);
    assert_eq!(total(&format!("requestId={id}")).await, 1);
    assert_eq!(total(&format!("from={start}")).await, 3);
    assert_eq!(total(&format!("until={start}")).await, 0, "the end is not included");
    assert_eq!(total(&format!("from={}", app.clock.now_text())).await, 2);
    assert_eq!(total("status=charged").await, 3);
    assert_eq!(total("status=refunded").await, 0);

    let one = get(&page, &format!("/console/activity?requestId={id}")).await.ok_json();
    let line = &one["data"][0];
    assert_eq!((&line["keyId"], &line["status"]), (&json!(key), &json!("charged")));
    assert_eq!(line["cost"], json!({"USD": "0.0000412"}));
    assert_eq!(line["lines"][0]["amount"], "0.000028");
    let counted = get(&page, "/console/activity?size=0").await.ok_json();
    assert_eq!((&counted["data"], &counted["total"]), (&json!([]), &json!(3)));
    assert_eq!(counted["byDay"][0]["requests"], 3);
    let second = get(&page, "/console/activity?size=2&page=2").await.ok_json();
    assert_eq!((second["data"].as_array().unwrap().len(), &second["total"]), (1, &json!(3)));

    let charge = EntryId(line["charge"].as_str().unwrap().parse().unwrap());
    app.app.ledger.refund(charge, None, "slow", Vec::new()).await.unwrap();
    let given_back = get(&page, "/console/activity?status=refunded").await.ok_json();
    assert_eq!(given_back["data"][0]["requestId"], id);
    let charged =
        get(&page, &format!("/console/activity?requestId={id}&status=charged")).await.ok_json();
    assert_eq!(charged["data"][0]["isRefunded"], true);
}

#[tokio::test]
async fn errors_are_found_by_key_id_and_time() {
    let app = TestApp::start().await;
    let (page, _) = signed_in(&app, app.admin_secret()).await;
    let (_, caller, key) =
        key_page(&app, &json!({"apiKeyType": "INFERENCE", "description": "calls"})).await;
    let refused = caller.post("/embeddings", &json!({"model": 5})).await;
    app.admin().post("/embeddings", &json!({"model": 5})).await;
    let of = async |query: &str| {
        let path = format!("/console/activity?status=error{query}");
        get(&page, &path).await.ok_json()["data"].clone()
    };
    assert_eq!(of("").await.as_array().unwrap().len(), 2);
    let own = of(&format!("&key={key}")).await;
    assert_eq!(own.as_array().unwrap().len(), 1);
    assert_eq!((&own[0]["httpStatus"], &own[0]["path"]), (&json!(400), &json!("/embeddings")));
    assert_eq!(own[0]["requestId"], refused.header("x-request-id"));
    assert_eq!(of(&format!("&requestId={}", "0".repeat(32))).await, json!([]));
    assert_eq!(of("&until=2001-01-01").await, json!([]));
    let by_model = get(&page, "/console/activity?status=error&model=x").await;
    assert_eq!(by_model.status, 400, "errors are not kept by model");
}

#[tokio::test]
async fn only_the_operator_sees_the_requests_of_another_account() {
    let app = TestApp::start().await;
    let (_, other) = app.funded_account("acme", "5").await;
    let id = chat(&other).await;
    app.settle_tasks().await;
    let (page, _) = signed_in(&app, &app.operator_secret().await).await;
    let found =
        get(&page, &format!("/console/activity?account=acme&requestId={id}")).await.ok_json();
    assert_eq!(found["total"], 1);
    assert_eq!(get(&page, "/console/activity").await.ok_json()["total"], 0, "not one of its own");
    let spent = get(&page, "/console/analytics?account=acme&lookback=30d").await.ok_json();
    assert_eq!(spent["byDate"].as_array().unwrap().len(), 30);
    assert!(0.0 < spent["byModel"][0]["totalUsd"].as_f64().unwrap(), "{spent}");
    assert_eq!(get(&page, "/console/activity?account=nobody").await.status, 404);

    let body = json!({"apiKeyType": "ADMIN", "description": "theirs"});
    let made = other.post("/api_keys", &body).await.ok_json();
    let (theirs, _) = signed_in(&app, made["data"]["apiKey"].as_str().unwrap()).await;
    assert_eq!(get(&theirs, "/console/activity").await.ok_json()["total"], 1);
    for path in ["/console/activity?account=default", "/console/analytics?account=acme"] {
        assert_eq!(get(&theirs, path).await.status, 403, "{path}");
        assert_eq!(get(&app.admin(), path).await.status, 401, "a key alone is no page");
    }
}

#[tokio::test]
async fn an_inference_key_sees_its_own_requests_and_what_is_left_of_its_limit() {
    let app = TestApp::start().await;
    let limited = json!({
        "apiKeyType": "INFERENCE", "description": "calls", "limitPeriod": "MONTH",
        "consumptionLimit": {"usd": 2.5},
    });
    let (page, caller, key) = key_page(&app, &limited).await;
    app.charge("0.10").await;
    chat(&caller).await;
    app.settle_tasks().await;
    let found = get(&page, "/console/activity").await.ok_json();
    assert_eq!((&found["total"], &found["data"][0]["keyId"]), (&json!(1), &json!(key)));
    assert_eq!(found["filters"]["keys"], json!([{"id": key, "description": "calls"}]));
    let foreign = "00000000-0000-0000-0000-000000000001";
    assert_eq!(get(&page, &format!("/console/activity?key={foreign}")).await.status, 403);

    let own = get(&page, "/console/key").await.ok_json();
    let number = |field: &str| own["limits"][0][field].as_str().unwrap().parse::<f64>().unwrap();
    assert_eq!((own["limits"][0]["currency"].as_str(), number("limit")), (Some("USD"), 2.5));
    assert!(0.0 < number("spent") && number("spent") < 0.01, "{own}");
    assert!((number("left") + number("spent") - 2.5).abs() < 1e-9, "{own}");
    assert_eq!(own["period"], "MONTH");
    assert!(own["resetsAt"].is_string());
    let free = json!({"apiKeyType": "INFERENCE", "description": "free"});
    let (page, _, _) = key_page(&app, &free).await;
    assert_eq!(get(&page, "/console/key").await.ok_json()["limits"], json!([]));
}

#[tokio::test]
async fn a_search_that_makes_no_sense_is_refused() {
    let app = TestApp::start().await;
    let (page, _) = signed_in(&app, &app.operator_secret().await).await;
    let long = format!("requestId={}", "x".repeat(201));
    for query in [
        "page=0",
        "page=1001",
        "size=201",
        "size=-1",
        "key=none",
        "status=odd",
        "from=yesterday",
        "from=2026-02-01&until=2026-01-01",
        "colour=red",
        long.as_str(),
    ] {
        let reply = get(&page, &format!("/console/activity?{query}")).await;
        assert_eq!(reply.status, 400, "{query}");
        assert!(reply.json()["error"].is_string(), "{query}: {}", reply.text());
    }
    assert_eq!(get(&page, "/console/analytics").await.status, 400);
}

#[tokio::test]
async fn a_private_video_in_the_list_of_jobs_has_a_link_that_plays() {
    let app = private().await;
    let (page, _) = signed_in(&app, app.admin_secret()).await;
    let (id, _) = queue(&app.admin()).await;
    assert_eq!(get(&page, "/console/jobs").await.ok_json()["data"][0]["url"], json!(null));
    app.run_jobs().await;
    let listed = get(&page, "/console/jobs").await.ok_json();
    let link = listed["data"][0]["url"].as_str().unwrap().to_owned();
    assert!(link.starts_with("/api/v1/media/"), "{link}");
    let video = get(&app.anonymous(), &link).await;
    assert_eq!((video.status, video.body.as_ref()), (200, small_video().as_slice()));
    let complete = json!({"model": "wan-2-7", "queue_id": id});
    app.admin().post("/video/complete", &complete).await.ok_json();
    let listed = get(&page, "/console/jobs").await.ok_json();
    assert_eq!(
        (&listed["data"][0]["url"], &listed["data"][0]["hasResult"]),
        (&json!(null), &json!(false))
    );
}

#[tokio::test]
async fn pages_carry_the_operators_name_and_addresses() {
    let plain = TestApp::start().await;
    let told = get(&plain.anonymous(), "/console/brand").await.ok_json();
    assert_eq!((&told["name"], &told["hasLogo"]), (&json!("Tollgate"), &json!(false)));
    assert_eq!(get(&plain.anonymous(), "/console/logo").await.status, 404);

    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../console/public/favicon.svg");
    let section = format!(
        "\n[brand]\nname = \"Acme AI\"\nlogo = {file:?}\nsupport_email = \"help@example.com\"\n\
         terms_url = \"https://example.com/terms\"\n"
    );
    let app = TestApp::with_changed_fixture(move |toml| format!("{toml}{section}")).await;
    let told = get(&app.anonymous(), "/console/brand").await.ok_json();
    let expected = json!({
        "name": "Acme AI", "hasLogo": true, "supportEmail": "help@example.com",
        "termsUrl": "https://example.com/terms", "privacyUrl": null,
    });
    assert_eq!(told, expected);
    let logo = get(&app.anonymous(), "/console/logo").await;
    assert_eq!((logo.status, logo.header("content-type")), (200, "image/svg+xml"));
    assert!(logo.header("content-security-policy").ends_with("sandbox"), "it runs nothing");
    assert_eq!(logo.text(), std::fs::read_to_string(file).unwrap());
    assert!(get(&app.anonymous(), "/llms.txt").await.text().starts_with("# Acme AI\n"));
}

#[tokio::test]
async fn a_refusal_for_want_of_credit_says_how_this_service_is_paid() {
    let refused = async |app: &TestApp| {
        let poor = app.another_account("poor").await;
        let reply = poor.post(PATH, &ask("kimi-k3", &json!({}))).await;
        assert_eq!(reply.status, 402);
        reply.json()["error"].as_str().unwrap().to_owned()
    };
    let with_support =
        |toml: &str| format!("{toml}\n[brand]\nsupport_email = \"help@example.com\"\n");
    let app = TestApp::with_changed_fixture(with_support).await;
    let told = refused(&app).await;
    assert!(told.contains("Visit http://testhost/#/top-up to add credits in USDC"), "{told}");
    assert!(told.ends_with("or ask the operator at help@example.com."), "{told}");
    let mut app = TestApp::start().await;
    app.refuse_payments();
    let told = refused(&app).await;
    assert!(told.ends_with("available. Ask the operator of this service for credit."), "{told}");
}
