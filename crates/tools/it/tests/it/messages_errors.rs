//! Tests of the errors of `/messages`: the protocol's own shape, and nothing charged.

use axum::body::Body;
use axum::http::Method;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::TestReply;
use testkit::upstream::UpstreamScript;

use crate::messages::{PATH, ask, post};

/// Checks an error in the protocol's shape. Returns its message.
#[track_caller]
fn check_error(reply: &TestReply, status: u16, kind: &str) -> String {
    let body = reply.json();
    assert_eq!(reply.status, status, "{body}");
    assert_eq!((&body["type"], &body["error"]["type"]), (&json!("error"), &json!(kind)), "{body}");
    assert_eq!(body["request_id"], reply.header("request-id"), "{body}");
    assert!(!reply.header("request-id").is_empty());
    assert!(!reply.header("anthropic-ratelimit-requests-reset").is_empty());
    body["error"]["message"].as_str().unwrap().to_owned()
}

fn ask_block(block: Value) -> Value {
    ask(json!({"messages": [{"role": "user", "content": [block]}]}))
}

#[tokio::test]
async fn bad_input_is_the_protocols_400_and_free() {
    let app = TestApp::start().await;
    let result = json!({"type": "tool_result", "tool_use_id": "7", "content": "x"});
    let image = json!({"type": "image", "source":
        {"type": "base64", "media_type": "image/png", "data": "%%%"}});
    for (body, words) in [
        (ask_block(json!({"type": "hologram"})), "messages.0.content.0: Input tag 'hologram'"),
        (ask(json!({"tools": [{"name": "f"}]})), "tools.0.input_schema: Field required"),
        (ask_block(result), "messages.0.content.0: unexpected `tool_use_id`"),
        (ask_block(image), "messages.0.content.0: Supplied image did not pass"),
        (ask(json!({"messages": []})), "messages: "),
        (ask(json!({"max_tokens": null})), "max_tokens: "),
        (
            ask(json!({"tools": [{"type": "bash_20250124", "name": "bash"}]})),
            "tools.0: Input tag 'bash_20250124'",
        ),
        (ask(json!({"temperature": 1.5})), "temperature: "),
    ] {
        // Avoids the block after too many failures.
        app.clock.advance_s(31);
        let message =
            check_error(&post(&app.admin(), PATH, &body).await, 400, "invalid_request_error");
        assert!(message.starts_with(words), "{message}");
    }
    assert!(app.upstream.received_bodies().is_empty());
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn ten_megabytes_of_schemas_are_refused() {
    let app = TestApp::start().await;
    let tool = json!({"name": "f", "input_schema": {"description": "x".repeat(1024 * 1024)}});
    let reply = post(&app.admin(), PATH, &ask(json!({"tools": vec![tool; 10]}))).await;
    let message = check_error(&reply, 400, "invalid_request_error");
    assert!(message.starts_with("tools: "), "{message}");
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn all_faults_are_told_at_once_under_both_prefixes() {
    let app = TestApp::start().await;
    let body =
        ask(json!({"tools": [{}], "tool_choice": {"type": "x"}, "mcp_servers": [{"name": "x"}]}));
    for path in [PATH, "/v1/messages"] {
        let message =
            check_error(&post(&app.admin(), path, &body).await, 400, "invalid_request_error");
        for field in ["tools.0.name", "tools.0.input_schema", "tool_choice", "mcp_servers"] {
            assert!(message.contains(field), "{message}");
        }
    }
}

#[tokio::test]
async fn errors_before_the_endpoint_have_the_shape_too() {
    let app = TestApp::start().await;
    let wrong = app.anonymous().with_bearer("nobody");
    check_error(&post(&wrong, PATH, &ask(json!({}))).await, 401, "authentication_error");
    check_error(
        &post(&app.admin(), PATH, &ask(json!({"model": "kimi-k4"}))).await,
        404,
        "not_found_error",
    );
    let get = app.admin().send_raw(Method::GET, "/v1/messages", Body::empty()).await;
    check_error(&get, 405, "invalid_request_error");
    let below = post(&app.admin(), "/v1/messages/batches", &json!({})).await;
    check_error(&below, 404, "not_found_error");
    let client = app.admin().with("content-type", "application/json");
    let junk = client.send_raw(Method::POST, PATH, Body::from("{")).await;
    check_error(&junk, 400, "invalid_request_error");
    let large = client.with("content-length", "40000000");
    let large = large.send_raw(Method::POST, PATH, Body::from("{}")).await;
    check_error(&large, 413, "request_too_large");
}

#[tokio::test]
async fn a_key_may_come_as_x_api_key_and_the_bearer_counts_first() {
    let app = TestApp::start().await;
    let secret = app.admin_secret();
    let key = app.anonymous().with("x-api-key", secret);
    post(&key, PATH, &ask(json!({}))).await.ok_json();
    post(&key, "/v1/messages/count_tokens", &ask(json!({}))).await.ok_json();
    let chat = json!({"model": "kimi-k3", "messages": [{"role": "user", "content": "Hi"}]});
    assert_eq!(post(&key, "/v1/chat/completions", &chat).await.status, 402, "only there");
    let other = app.anonymous().with("x-api-key", "nobody").with_bearer(secret);
    post(&other, PATH, &ask(json!({}))).await.ok_json();
    let other = key.with_bearer("nobody");
    check_error(&post(&other, PATH, &ask(json!({}))).await, 401, "authentication_error");
}

#[tokio::test]
async fn without_a_credential_the_ways_to_pay_are_in_the_header() {
    let app = TestApp::start().await;
    let reply = post(&app.anonymous(), PATH, &ask(json!({}))).await;
    check_error(&reply, 402, "billing_error");
    assert!(!reply.header("payment-required").is_empty());
}

#[tokio::test]
async fn no_balance_is_a_billing_error() {
    let app = TestApp::start().await;
    let poor = app.another_account("poor").await;
    let message = check_error(&post(&poor, PATH, &ask(json!({}))).await, 402, "billing_error");
    assert!(message.starts_with("Insufficient"), "{message}");
}

#[tokio::test]
async fn a_keys_spending_limit_is_429_that_is_not_retried() {
    let app = TestApp::start().await;
    let limit = json!({"usd": 0.000001});
    let body = json!({"apiKeyType": "INFERENCE", "description": "a", "consumptionLimit": limit});
    let key = app.create_key(&body).await;
    let client = app.anonymous().with("x-api-key", key["apiKey"].as_str().unwrap());
    let reply = post(&client, PATH, &ask(json!({}))).await;
    check_error(&reply, 429, "billing_error");
    assert_eq!(reply.header("x-should-retry"), "false");
    assert!(reply.header("retry-after").parse::<u64>().unwrap() > 60);
}

#[tokio::test]
async fn an_overloaded_upstream_is_429_with_retry_after() {
    let app = TestApp::start().await;
    app.upstream.queue_script(
        UpstreamScript::json(429, &json!({"error": "busy"})).header("retry-after", "7"),
    );
    let reply = post(&app.admin(), PATH, &ask(json!({}))).await;
    check_error(&reply, 429, "rate_limit_error");
    assert!(!reply.header("retry-after").is_empty());
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn limits_are_in_the_protocols_headers_of_every_answer() {
    let app = TestApp::start().await;
    let reply = post(&app.admin(), PATH, &ask(json!({}))).await;
    reply.ok_json();
    for kind in ["requests", "tokens", "input-tokens", "output-tokens"] {
        for what in ["limit", "remaining", "reset"] {
            let name = format!("anthropic-ratelimit-{kind}-{what}");
            assert!(!reply.header(&name).is_empty(), "{name}");
        }
    }
    assert!(reply.header("anthropic-ratelimit-tokens-reset").ends_with('Z'));
    assert!(!reply.header("request-id").is_empty());
}

#[tokio::test]
async fn tokens_are_counted_up_to_four_mebibytes() {
    let app = TestApp::start().await;
    let path = "/v1/messages/count_tokens";
    let of_bytes = |bytes: usize| ask(json!({"system": "word ".repeat(bytes / 5)}));
    // A whole conversation with a context of a million tokens.
    let reply = post(&app.admin(), path, &of_bytes(4_000_000)).await;
    assert!(500_000 < reply.ok_json()["input_tokens"].as_u64().unwrap());
    let reply = post(&app.admin(), path, &of_bytes(4 * 1024 * 1024)).await;
    let message = check_error(&reply, 413, "request_too_large");
    assert!(message.contains("4 MiB"), "{message}");
    // A chat of this size is read; its model has a smaller context.
    let reply = post(&app.admin(), PATH, &of_bytes(4 * 1024 * 1024)).await;
    check_error(&reply, 400, "invalid_request_error");
}
