//! Tests of the catalogue in the form of Anthropic's API.

use axum::body::Body;
use axum::http::Method;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::TestReply;

async fn get(app: &TestApp, path: &str) -> TestReply {
    let client = app.anonymous().with("anthropic-version", "2023-06-01");
    client.send_raw(Method::GET, path, Body::empty()).await
}

fn list_ids(page: &Value) -> Vec<String> {
    let models = page["data"].as_array().unwrap().iter();
    models.map(|model| model["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn text_models_are_listed_in_pages() {
    let app = TestApp::start().await;
    let whole = get(&app, "/v1/models?limit=1000").await.ok_json();
    let all = list_ids(&whole);
    assert!(2 < all.len() && whole["has_more"] == false, "{whole}");
    assert_eq!(
        (&whole["first_id"], &whole["last_id"]),
        (&json!(all[0]), &json!(all[all.len() - 1]))
    );
    let model = whole["data"].as_array().unwrap().iter().find(|it| it["id"] == "kimi-k3").unwrap();
    assert_eq!((&model["type"], &model["max_input_tokens"]), (&json!("model"), &json!(262_144)));
    assert!(model["display_name"].is_string() && model["created_at"].is_string());
    let first = get(&app, "/api/v1/models?limit=1").await.ok_json();
    assert_eq!((list_ids(&first), &first["has_more"]), (vec![all[0].clone()], &json!(true)));
    let path = format!("/api/v1/models?limit=1&after_id={}", all[0]);
    assert_eq!(list_ids(&get(&app, &path).await.ok_json()), [all[1].clone()]);
    let path = format!("/api/v1/models?limit=1&before_id={}", all[2]);
    let before = get(&app, &path).await.ok_json();
    assert_eq!((list_ids(&before), &before["has_more"]), (vec![all[1].clone()], &json!(true)));
}

#[tokio::test]
async fn one_model_and_errors_have_the_protocols_shape() {
    let app = TestApp::start().await;
    let model = get(&app, "/v1/models/kimi-k3").await.ok_json();
    assert_eq!((&model["id"], &model["type"]), (&json!("kimi-k3"), &json!("model")));
    for (path, status, kind) in [
        ("/v1/models/none", 404, "not_found_error"),
        ("/v1/models?limit=0", 400, "invalid_request_error"),
        ("/v1/models?after_id=none", 400, "invalid_request_error"),
        ("/v1/models?after_id=kimi-k3&before_id=kimi-k3", 400, "invalid_request_error"),
    ] {
        let reply = get(&app, path).await;
        assert_eq!(
            (reply.status, &reply.json()["error"]["type"]),
            (status, &json!(kind)),
            "{path}"
        );
    }
    let plain = app.anonymous().send_raw(Method::GET, "/v1/models", Body::empty()).await.ok_json();
    assert_eq!(plain["object"], "list");
}
