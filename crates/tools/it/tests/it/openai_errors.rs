//! Tests of the API below `/v1`, where errors have OpenAI's format.

use axum::body::Body;
use axum::http::Method;
use expect_test::expect;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::{TestClient, TestReply};
use testkit::upstream::UpstreamScript;

async fn post(client: &TestClient, path: &str, body: &Value) -> TestReply {
    let client = client.with("content-type", "application/json");
    client.send_raw(Method::POST, path, Body::from(body.to_string())).await
}

async fn get(client: &TestClient, path: &str) -> TestReply {
    client.send_raw(Method::GET, path, Body::empty()).await
}

const CHAT: &str = "/v1/chat/completions";

fn ask(model: &str) -> Value {
    json!({"model": model, "messages": [{"role": "user", "content": "Hi"}]})
}

/// Checks an error object with four members and a message.
#[track_caller]
fn check_error(reply: &TestReply, status: u16, kind: &str, code: &str) {
    let body = reply.json();
    assert_eq!(reply.status, status, "{body}");
    let members: Vec<&String> = body["error"].as_object().unwrap().keys().collect();
    assert_eq!(members, ["message", "type", "param", "code"], "{body}");
    assert_eq!(body["error"]["type"], kind, "{body}");
    assert_eq!(body["error"]["code"].as_str().unwrap_or_default(), code, "{body}");
    assert!(!body["error"]["message"].as_str().unwrap().is_empty(), "{body}");
    assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
}

#[tokio::test]
async fn every_operation_of_the_document_is_there() {
    let app = TestApp::start().await;
    let document = api::build_openapi_document();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            // A method that is never allowed shows that the route exists, without running it.
            let path = format!("/v1{}", path.replace(['{', '}'], ""));
            // Avoids the block after too many failures.
            app.clock.advance_s(31);
            let reply = app.anonymous().send_raw(Method::TRACE, &path, Body::empty()).await;
            assert_eq!(reply.status, 405, "{method} {path}");
        }
    }
    assert_eq!(get(&app.anonymous(), "/v1/openapi.json").await.ok_json(), document);
}

#[tokio::test]
async fn replies_are_the_same() {
    let app = TestApp::start().await;
    for path in ["/models?type=all", "/models/traits", "/image/styles"] {
        let plain = get(&app.anonymous(), &format!("/api/v1{path}")).await.ok_json();
        assert_eq!(get(&app.anonymous(), &format!("/v1{path}")).await.ok_json(), plain, "{path}");
    }
    let reply = post(&app.admin(), CHAT, &ask("kimi-k3")).await;
    assert_eq!(reply.ok_json()["object"], "chat.completion");
    assert_eq!(reply.header("x-service-model-router"), "main");
    let streaming = app.admin().with("content-type", "application/json");
    let body = json!({"model": "kimi-k3", "messages": ask("")["messages"], "stream": true});
    let stream = streaming.send_raw(Method::POST, CHAT, Body::from(body.to_string())).await;
    assert!(stream.text().ends_with("data: [DONE]\n\n"), "{}", stream.text());
}

#[tokio::test]
async fn errors_have_openais_shape() {
    let app = TestApp::start().await;
    let admin = app.admin();
    post(&admin, CHAT, &json!({"model": "kimi-k3", "messages": [], "temperature": 3})).await.expect(
        expect![[r#"400 {"error":{"message":"messages: Must contain at least 1 element(s); temperature: Must be at most 2","type":"invalid_request_error","param":"messages","code":null}}"#]],
    );
    post(&admin, CHAT, &ask("kimi-k4")).await.expect(expect![[r#"404 {"error":{"message":"Specified model not found. Did you mean kimi-k3?","type":"invalid_request_error","param":null,"code":null}}"#]]);
    let stranger = app.anonymous().with_bearer("SERVICE_INFERENCE_KEY_wrong");
    let poor = app.another_account("poor").await;
    let json = admin.with("content-type", "application/json");
    let invalid = "invalid_request_error";
    let cases = [
        (401, invalid, "invalid_api_key", post(&stranger, CHAT, &ask("kimi-k3")).await),
        (401, invalid, "invalid_api_key", get(&app.anonymous(), "/v1/api_keys").await),
        (
            402,
            "insufficient_quota",
            "INSUFFICIENT_BALANCE",
            post(&poor, CHAT, &ask("kimi-k3")).await,
        ),
        (404, invalid, "", get(&admin, "/v1/no/such/path").await),
        (405, invalid, "", post(&admin, "/v1/models", &json!({})).await),
        (400, invalid, "", json.send_raw(Method::POST, CHAT, Body::from("{")).await),
    ];
    for (status, kind, code, reply) in cases {
        check_error(&reply, status, kind, code);
    }
    let refused = json!({"error": {"message": "temperature is odd", "type": "x"}});
    app.upstream.queue_script(UpstreamScript::json(400, &refused));
    let reply = post(&admin, CHAT, &ask("kimi-k3")).await;
    assert_eq!(
        (reply.status, &reply.json()["error"]["message"]),
        (400, &json!("temperature is odd"))
    );
}

#[tokio::test]
async fn a_caller_without_a_credential_is_told_how_to_pay_in_the_header() {
    let app = TestApp::start().await;
    let plain = post(&app.anonymous(), "/api/v1/chat/completions", &ask("kimi-k3")).await;
    let reply = post(&app.anonymous(), CHAT, &ask("kimi-k3")).await;
    check_error(&reply, 402, "insufficient_quota", "AUTHENTICATION_REQUIRED");
    let (header, other) = (reply.header("payment-required"), plain.header("payment-required"));
    assert!(!header.is_empty() && !other.is_empty());
    assert!(plain.json()["accepts"].is_array(), "the specification's shape stays");
}

#[tokio::test]
async fn pages_of_other_origins_get_the_same_shape() {
    let app = TestApp::start().await;
    let page = app.anonymous().with("origin", "https://a.example");
    let reply = get(&page, "/v1/no/such/path").await;
    assert_eq!(reply.header("access-control-allow-origin"), "*");
    assert_eq!(reply.json()["error"]["type"], "invalid_request_error");
}
