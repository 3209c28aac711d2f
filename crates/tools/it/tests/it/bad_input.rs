//! Tests that any invalid input gets the correct 4xx error and changes nothing.

use axum::body::Body;
use axum::http::Method;
use expect_test::{Expect, expect};
use testkit::app::TestApp;

async fn check(content_type: &str, body: impl Into<Body>, expected: Expect) {
    let app = TestApp::start().await;
    let caller = app.admin().with("content-type", content_type);
    let reply = caller.send(Method::POST, "/api_keys", body.into()).await;
    reply.expect(expected);
    let keys = app.admin().get("/api_keys").await.ok_json();
    assert_eq!(keys["data"].as_array().unwrap().len(), 1, "nothing is left behind");
}

#[tokio::test]
async fn bodies_that_are_not_json_are_told_so() {
    let not_json = || expect![[r#"400 {"error":"Invalid JSON request"}"#]];
    check("application/json", "{", not_json()).await;
    check("application/json", "", not_json()).await;
    check("application/json", &b"{\"description\":\"\xff\xfe\"}"[..], not_json()).await;
    check("application/json", "{\"a\":1}{}", not_json()).await;
    check("application/json; charset=utf-8", "[1,]", not_json()).await;
    check("application/json", "[".repeat(100_000), not_json()).await;
    check("application/json", "{\"apiKeyType\":NaN}", not_json()).await;
}

#[tokio::test]
async fn other_content_types_are_refused() {
    let wrong =
        || expect![[r#"415 {"error":"Invalid request content-type. Send application/json."}"#]];
    check("text/plain", "{}", wrong()).await;
    check("application/x-www-form-urlencoded", "a=1", wrong()).await;
    check("multipart/form-data; boundary=x", "--x--", wrong()).await;
    check("nonsense", "{}", wrong()).await;
}

#[tokio::test]
async fn a_body_of_another_kind_is_told_what_was_expected() {
    check("application/json", "[]", expect![[r#"400 {"error":"Invalid request parameters","details":{"_errors":["Expected object, received array"]},"issues":[{"code":"invalid_type","expected":"object","received":"array","path":[],"message":"Expected object, received array"}]}"#]]).await;
    check("application/json", "null", expect![[r#"400 {"error":"Invalid request parameters","details":{"_errors":["Expected object, received null"]},"issues":[{"code":"invalid_type","expected":"object","received":"null","path":[],"message":"Expected object, received null"}]}"#]]).await;
    check("application/json", "\"text\"", expect![[r#"400 {"error":"Invalid request parameters","details":{"_errors":["Expected object, received string"]},"issues":[{"code":"invalid_type","expected":"object","received":"string","path":[],"message":"Expected object, received string"}]}"#]]).await;
}

#[tokio::test]
async fn forty_megabytes_are_refused() {
    let body = format!("{{\"description\":\"{}\"}}", "x".repeat(40 * 1024 * 1024));
    check(
        "application/json",
        body,
        expect![[r#"413 {"error":"Request body exceeds the maximum allowed size."}"#]],
    )
    .await;
}

#[tokio::test]
async fn a_stranger_with_bad_json_hears_of_the_json_and_with_a_large_body_of_the_key() {
    let app = TestApp::start().await;
    let send = async |body: String| {
        let caller = app.anonymous().with("content-type", "application/json");
        caller.send(Method::POST, "/api_keys", Body::from(body)).await
    };
    assert_eq!(send("{".to_owned()).await.status, 400);
    assert_eq!(send("{}".to_owned()).await.status, 401);
    assert_eq!(send("x".repeat(1024 * 1024)).await.status, 401);
}

#[tokio::test]
async fn unknown_paths_and_methods_are_refused_in_the_standard_shape() {
    let app = TestApp::start().await;
    let caller = app.anonymous();
    let reply = caller.send_raw(Method::GET, "/api/v1/nowhere", Body::empty()).await;
    reply.expect(expect![[r#"404 {"error":"No such path. See /api/v1/openapi.json."}"#]]);
    let reply = caller.send_raw(Method::PUT, "/api/v1/models", Body::empty()).await;
    reply.expect(expect![[
        r#"405 {"error":"This path does not support that method. See /api/v1/openapi.json."}"#
    ]]);
    assert_eq!(reply.header("allow"), "GET,HEAD");
    assert!(!reply.header("x-request-id").is_empty());
}

#[tokio::test]
async fn paths_and_queries_that_are_not_utf8_are_refused() {
    let app = TestApp::start().await;
    for path in ["/models/%ff", "/models?type=%ff", "/models?type=text&type=image"] {
        let reply = app.anonymous().get(path).await;
        assert_eq!(reply.status, 400, "{path}: {}", reply.text());
    }
}

#[tokio::test]
async fn odd_ids_are_unknown_and_nothing_worse() {
    let app = TestApp::start().await;
    for id in ["%00", "..", "%2e%2e", "'; DROP TABLE api_key;--", "%F0%9F%94%91", &"9".repeat(64)] {
        let reply = app.admin().get(&format!("/api_keys/{}", id.replace(' ', "%20"))).await;
        assert!([400, 404].contains(&reply.status), "{id}: {} {}", reply.status, reply.text());
    }
}
