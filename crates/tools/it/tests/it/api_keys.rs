//! Tests of `/api_keys`: creating, listing, changing and revoking keys.

use expect_test::expect;
use serde_json::{Value, json};
use testkit::app::TestApp;

#[tokio::test]
async fn a_key_is_shown_once_and_known_by_its_end_afterwards() {
    let app = TestApp::start().await;
    let body = json!({
        "apiKeyType": "INFERENCE",
        "description": "for the tests",
        "consumptionLimit": {"usd": 12.34, "diem": null},
        "limitPeriod": "MONTH",
        "expiresAt": "2027-01-31",
    });
    let made = app.create_key(&body).await;
    let secret = made["apiKey"].as_str().unwrap();
    assert!(secret.starts_with("SERVICE_INFERENCE_KEY_"), "{secret}");
    assert_eq!(made["consumptionLimit"], json!({"usd": 12.34, "diem": null, "vcu": null}));
    assert_eq!(made["expiresAt"], "2027-01-31T00:00:00.000Z");

    let id = made["id"].as_str().unwrap();
    let shown = app.admin().get(&format!("/api_keys/{id}")).await.ok_json();
    let key = &shown["data"];
    assert_eq!(key["last6Chars"], secret[secret.len() - 6..]);
    assert_eq!(key["limitPeriod"], "MONTH");
    assert_eq!(key["lastUsedAt"], Value::Null);
    assert_eq!(
        key["usage"]["trailingSevenDays"],
        json!({"usd": "0.0000", "vcu": "0.0000", "diem": "0.0000"})
    );
    assert_eq!(key["currentPeriodUsage"], json!({"usd": "0.0000", "diem": "0.0000"}));
    assert!(!shown.to_string().contains(secret));
}

#[tokio::test]
async fn the_list_shows_every_key_of_the_account_and_no_others() {
    let app = TestApp::start().await;
    app.create_key(&json!({"apiKeyType": "ADMIN", "description": "second"})).await;
    let stranger = app.another_account("stranger").await;
    let list = app.admin().get("/api_keys").await.ok_json();
    let names: Vec<&str> = list["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["description"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["second", "first"]);
    assert_eq!(list["data"][1]["lastUsedAt"], app.clock.now_text());

    let theirs =
        stranger.get("/api_keys").await.ok_json()["data"][0]["id"].as_str().unwrap().to_owned();
    let reply = app.admin().get(&format!("/api_keys/{theirs}")).await;
    reply.expect(expect![[r#"400 {"error":"API key not found"}"#]]);
    let reply = app.admin().delete(&format!("/api_keys?id={theirs}")).await;
    reply.expect(expect![[r#"400 {"error":"API key could not be found"}"#]]);
}

#[tokio::test]
async fn a_change_touches_only_what_it_names() {
    let app = TestApp::start().await;
    let body =
        json!({"apiKeyType": "INFERENCE", "description": "old", "consumptionLimit": {"usd": 5}});
    let made = app.create_key(&body).await;
    let change =
        json!({"id": made["id"], "description": "new", "expiresAt": "2030-01-01T00:00:00Z"});
    let changed = app.admin().patch("/api_keys", &change).await.ok_json();
    assert_eq!(changed["data"]["description"], "new");
    assert_eq!(changed["data"]["consumptionLimits"]["usd"], 5.0);
    assert_eq!(changed["data"]["expiresAt"], "2030-01-01T00:00:00.000Z");

    let clear = json!({"id": made["id"], "expiresAt": "", "consumptionLimit": {"usd": null}});
    let cleared = app.admin().patch("/api_keys", &clear).await.ok_json();
    assert_eq!(cleared["data"]["expiresAt"], Value::Null);
    assert_eq!(cleared["data"]["consumptionLimits"]["usd"], Value::Null);
}

#[tokio::test]
async fn every_fault_of_a_new_key_is_reported_at_once() {
    let app = TestApp::start().await;
    let body = json!({
        "apiKeyType": "ROOT",
        "description": "x".repeat(65),
        "consumptionLimit": {"usd": -1},
        "limitPeriod": 7,
    });
    app.admin().post("/api_keys", &body).await.expect(expect![[r#"400 {"error":"Invalid request parameters","details":{"_errors":[],"apiKeyType":{"_errors":["Invalid enum value. Expected 'INFERENCE' | 'ADMIN', received 'ROOT'"]},"description":{"_errors":["Must contain at most 64 character(s)"]},"consumptionLimit":{"_errors":[],"usd":{"_errors":["Must be at least 0"]}},"limitPeriod":{"_errors":["Expected string, received number"]}},"issues":[{"code":"invalid_enum_value","options":["INFERENCE","ADMIN"],"received":"ROOT","path":["apiKeyType"],"message":"Invalid enum value. Expected 'INFERENCE' | 'ADMIN', received 'ROOT'"},{"code":"too_big","maximum":64,"type":"string","inclusive":true,"exact":false,"path":["description"],"message":"Must contain at most 64 character(s)"},{"code":"too_small","minimum":0,"type":"number","inclusive":true,"exact":false,"path":["consumptionLimit","usd"],"message":"Must be at least 0"},{"code":"invalid_union","path":["limitPeriod"],"message":"Expected string, received number"}]}"#]]);
    let body = json!({
        "apiKeyType": "ADMIN",
        "description": "",
        "consumptionLimit": {"usd": 0.000_000_000_1},
        "expiresAt": "2001-01-01",
    });
    app.admin().post("/api_keys", &body).await.expect(expect![[r#"400 {"error":"Invalid request parameters","details":{"_errors":[],"consumptionLimit":{"_errors":[],"usd":{"_errors":["write at most 9 digits after the point"]}},"expiresAt":{"_errors":["Must be in the future"]}},"issues":[{"code":"custom","path":["consumptionLimit","usd"],"message":"write at most 9 digits after the point"},{"code":"custom","path":["expiresAt"],"message":"Must be in the future"}]}"#]]);
}

#[tokio::test]
async fn unknown_fields_are_ignored_and_null_is_absent() {
    let app = TestApp::start().await;
    let body = json!({
        "apiKeyType": "INFERENCE", "description": "lenient", "limitPeriod": null,
        "expiresAt": null, "consumptionLimit": null, "somethingNew": {"deep": [1]},
    });
    let made = app.create_key(&body).await;
    assert_eq!(made["limitPeriod"], "EPOCH");
    assert_eq!(made["expiresAt"], Value::Null);
}

#[tokio::test]
async fn a_key_can_be_revoked_by_a_body_too() {
    let app = TestApp::start().await;
    let made = app.create_key(&json!({"apiKeyType": "INFERENCE", "description": "x"})).await;
    let body = json!({"id": made["id"]});
    let reply = app.admin().send_json(axum::http::Method::DELETE, "/api_keys", &body).await;
    reply.expect(expect![[r#"200 {"success":true}"#]]);
    let again = app.admin().send_json(axum::http::Method::DELETE, "/api_keys", &body).await;
    again.expect(expect![[r#"400 {"error":"API key could not be found"}"#]]);
}

#[tokio::test]
async fn rate_limits_name_every_model() {
    let app = TestApp::start().await;
    let reply = app.inference().await.get("/api_keys/rate_limits").await.ok_json();
    let data = &reply["data"];
    assert_eq!(data["apiTier"], json!({"id": "default", "isCharged": true}));
    assert_eq!(data["accessPermitted"], true);
    assert_eq!(data["balances"]["USD"], 10.0);
    let limits = data["rateLimits"].as_array().unwrap();
    let models = app.anonymous().get("/models?type=all").await.ok_json();
    // Every model, and the class that retrieving counts against.
    assert_eq!(limits.len(), models["data"].as_array().unwrap().len() + 2);
    let of = |id: &str| {
        let found = limits.iter().find(|it| it["apiModelId"] == id).unwrap();
        found["rateLimits"].clone()
    };
    assert_eq!(of("wan-2-7"), json!([{"amount": 40, "type": "RPM"}]));
    for path in ["endpoint:api/v1/video/retrieve", "endpoint:api/v1/audio/retrieve"] {
        assert_eq!(of(path), json!([{"amount": 120, "type": "RPM"}]), "{path}");
    }
}

#[tokio::test]
async fn a_refusal_for_going_too_fast_is_in_the_log_under_both_paths() {
    let app = TestApp::start().await;
    let body = json!({"apiKeyType": "INFERENCE", "description": "many"});
    for _ in 0..20 {
        assert_eq!(app.admin().post("/api_keys", &body).await.status, 200);
    }
    let refused = app.admin().post("/api_keys", &body).await;
    assert_eq!(refused.status, 429);
    app.settle_tasks().await;
    for path in ["/api_keys/rate_limit_logs", "/api_keys/rate_limits/log"] {
        let log = app.admin().get(path).await.ok_json();
        assert_eq!(log["data"].as_array().unwrap().len(), 1, "{log}");
        assert_eq!(log["data"][0]["modelId"], "endpoint:api/v1/api_keys");
        assert_eq!(log["data"][0]["rateLimitType"], "RPM");
    }
}

/// A client with a key of this privacy.
async fn private(app: &TestApp, privacy: &str) -> testkit::client::TestClient {
    let body = json!({"apiKeyType": "INFERENCE", "description": "x", "modelPrivacy": privacy});
    let made = app.create_key(&body).await;
    assert_eq!(made["modelPrivacy"], privacy);
    app.anonymous().with_bearer(made["apiKey"].as_str().unwrap())
}

#[tokio::test]
async fn a_key_for_private_models_opens_no_others() {
    let app = TestApp::start().await;
    let chat =
        |model: &str| json!({"model": model, "messages": [{"role": "user", "content": "x"}]});
    let input = json!({"model": "text-embedding-bge-m3", "input": "x"});
    let text = private(&app, "PRIVATE_TEXT").await;
    text.post("/chat/completions", &chat("kimi-k3")).await.expect(expect![[r#"403 {"error":"Model kimi-k3 is not private, and this API key is for private models only (modelPrivacy PRIVATE_TEXT)","code":"MODEL_PRIVACY_RESTRICTED"}"#]]);
    assert_eq!(
        text.post("/responses", &json!({"model": "kimi-k3", "input": "x"})).await.status,
        403
    );
    assert_eq!(
        text.post("/completions", &json!({"model": "kimi-k3", "prompt": "x"})).await.status,
        403
    );
    assert_eq!(text.post("/chat/completions", &chat("llama-3.3-70b")).await.status, 200);
    assert_ne!(text.post("/embeddings", &input).await.status, 403, "no text model");
    let only = private(&app, "PRIVATE_ONLY").await;
    assert_eq!(only.post("/embeddings", &input).await.status, 403);
    let speech = json!({"model": "tts-kokoro", "input": "x"});
    assert_eq!(only.post("/audio/speech", &speech).await.status, 403);
    let mut fallen_back = chat("kimi-k3");
    fallen_back["fallbacks"] = json!([{"model": "llama-3.3-70b"}]);
    let reply = only.post("/chat/completions", &fallen_back).await;
    assert_eq!(reply.ok_json()["model"], "llama-3.3-70b", "a private model answers instead");
}

#[tokio::test]
async fn a_keys_privacy_is_shown_and_can_be_changed() {
    let app = TestApp::start().await;
    let body = json!({"apiKeyType": "INFERENCE", "description": "x"});
    let made = app.create_key(&body).await;
    assert_eq!(made["modelPrivacy"], "ALL");
    let path = format!("/api_keys/{}", made["id"].as_str().unwrap());
    assert_eq!(app.admin().get(&path).await.ok_json()["data"]["modelPrivacy"], "ALL");
    let change = json!({"id": made["id"], "modelPrivacy": "PRIVATE_ONLY"});
    app.admin().patch("/api_keys", &change).await.ok_json();
    assert_eq!(app.admin().get(&path).await.ok_json()["data"]["modelPrivacy"], "PRIVATE_ONLY");
    let unchanged = json!({"id": made["id"], "description": "y", "modelPrivacy": null});
    app.admin().patch("/api_keys", &unchanged).await.ok_json();
    assert_eq!(app.admin().get(&path).await.ok_json()["data"]["modelPrivacy"], "PRIVATE_ONLY");
    let unknown = json!({"id": made["id"], "modelPrivacy": "SOME"});
    assert_eq!(app.admin().patch("/api_keys", &unknown).await.status, 400);
}

#[tokio::test]
async fn null_clears_a_limit_and_an_expiry_and_is_absent_elsewhere() {
    let app = TestApp::start().await;
    let body = json!({"apiKeyType": "INFERENCE", "description": "x", "limitPeriod": "MONTH",
        "expiresAt": "2027-01-01", "consumptionLimit": {"usd": 5, "diem": 7}});
    let made = app.create_key(&body).await;
    let change = async |mut change: serde_json::Value| {
        change["id"] = made["id"].clone();
        app.admin().patch("/api_keys", &change).await.ok_json()["data"].clone()
    };
    let shown = change(json!({"consumptionLimit": {"usd": null}, "description": null,
        "limitPeriod": null}))
    .await;
    assert_eq!(shown["consumptionLimits"], json!({"usd": null, "diem": 7.0, "vcu": null}));
    assert_eq!(shown["description"], "x");
    assert_eq!(shown["limitPeriod"], "MONTH");
    assert_eq!(shown["expiresAt"], "2027-01-01T00:00:00.000Z");
    let shown = change(json!({"consumptionLimit": {"usd": 3}})).await;
    assert_eq!(shown["consumptionLimits"], json!({"usd": 3.0, "diem": 7.0, "vcu": null}));
    let shown = change(json!({"consumptionLimit": null, "expiresAt": null})).await;
    assert_eq!(shown["consumptionLimits"], json!({"usd": null, "diem": null, "vcu": null}));
    assert_eq!(shown["expiresAt"], json!(null));
}
