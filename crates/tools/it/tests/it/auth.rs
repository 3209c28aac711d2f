//! Tests of access rights, and of the errors without them.

use expect_test::expect;
use serde_json::json;
use testkit::app::TestApp;

#[tokio::test]
async fn without_a_credential_the_caller_is_asked_for_one() {
    let app = TestApp::start().await;
    let reply = app.anonymous().get("/api_keys").await;
    reply.expect(expect![[r#"401 {"error":"Authentication required"}"#]]);
    assert_eq!(reply.header("www-authenticate"), "Bearer");
}

#[tokio::test]
async fn each_kind_of_bad_credential_is_told_apart() {
    let app = TestApp::start().await;
    let caller = app.anonymous();
    let mistyped = format!("{}x", app.admin_secret());
    caller.with_bearer(&mistyped).get("/api_keys").await.expect(expect![[
        r#"401 {"error":"Authentication failed. The API key is mistyped or cut short; copy it again."}"#
    ]]);
    caller
        .with_bearer("sk-some-other-service")
        .get("/api_keys")
        .await
        .expect(expect![[r#"401 {"error":"Authentication failed"}"#]]);
    caller.with("authorization", "Basic YTpi").get("/api_keys").await.expect(expect![[
        r#"401 {"error":"Authentication failed. Send the header Authorization: Bearer <API_KEY>."}"#
    ]]);
    app.admin()
        .with_bearer(app.admin_secret())
        .get("/api_keys")
        .await
        .expect(expect![[r#"401 {"error":"Send exactly one Authorization header."}"#]]);
}

#[tokio::test]
async fn an_inference_key_may_not_manage_the_account() {
    let app = TestApp::start().await;
    let caller = app.inference().await;
    for path in ["/api_keys", "/billing/balance", "/api_keys/rate_limit_logs"] {
        caller.get(path).await.expect(expect![[r#"401 {"error":"Admin API key required"}"#]]);
    }
    assert_eq!(caller.get("/api_keys/rate_limits").await.status, 200);
}

#[tokio::test]
async fn a_revoked_key_stops_at_once() {
    let app = TestApp::start().await;
    let made =
        app.create_key(&json!({"apiKeyType": "ADMIN", "description": "to be revoked"})).await;
    let caller = app.anonymous().with_bearer(made["apiKey"].as_str().unwrap());
    assert_eq!(caller.get("/api_keys").await.status, 200);
    let id = made["id"].as_str().unwrap();
    assert_eq!(app.admin().delete(&format!("/api_keys?id={id}")).await.status, 200);
    caller.get("/api_keys").await.expect(expect![[
        r#"401 {"error":"Authentication failed. This API key has been revoked."}"#
    ]]);
}

#[tokio::test]
async fn a_key_expires_at_its_moment() {
    let app = TestApp::start().await;
    let expires = app.clock.now_plus_s(60);
    let body = json!({"apiKeyType": "ADMIN", "description": "short", "expiresAt": expires});
    let made = app.create_key(&body).await;
    let caller = app.anonymous().with_bearer(made["apiKey"].as_str().unwrap());
    app.clock.advance_s(59);
    assert_eq!(caller.get("/api_keys").await.status, 200);
    app.clock.advance_s(1);
    caller
        .get("/api_keys")
        .await
        .expect(expect![[r#"401 {"error":"Authentication failed. This API key has expired."}"#]]);
}

#[tokio::test]
async fn a_bad_key_still_sees_the_public_models() {
    let app = TestApp::start().await;
    assert_eq!(app.anonymous().with_bearer("nonsense").get("/models").await.status, 200);
}

#[tokio::test]
async fn a_store_that_fails_is_a_503_and_never_a_401() {
    let app = TestApp::with_failing_store().await;
    let reply = app.anonymous().with_bearer(app.admin_secret()).get("/api_keys").await;
    assert_eq!(reply.status, 503, "{}", reply.text());
    assert_eq!(reply.header("retry-after"), "5");
}
