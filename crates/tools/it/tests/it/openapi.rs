//! Tests that the OpenAPI document is current, served and complete.

use axum::body::Body;
use axum::http::Method;
use testkit::app::TestApp;

/// Names the first line that differs: a diff of documents of this size takes an hour.
#[test]
fn the_committed_document_is_the_one_that_the_code_describes() {
    let committed = include_str!("../../../../../openapi.json");
    let current = serde_json::to_string_pretty(&api::build_openapi_document()).unwrap() + "\n";
    let mut lines = committed.lines().zip(current.lines()).enumerate();
    let difference = lines.find(|(_, (committed, current))| committed != current);
    assert!(
        committed == current,
        "openapi.json is stale: run cargo xtask openapi. First difference: {difference:?}"
    );
}

#[tokio::test]
async fn the_service_publishes_the_document() {
    let app = TestApp::start().await;
    let path = "/api/v1/openapi.json";
    let reply =
        app.anonymous().send_raw(axum::http::Method::GET, path, axum::body::Body::empty()).await;
    assert_eq!(reply.ok_json(), api::build_openapi_document());
}

#[test]
fn every_operation_says_what_it_is() {
    let document = api::build_openapi_document();
    let mut ids = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            for field in ["operationId", "summary"] {
                let text = operation[field].as_str().unwrap_or("");
                assert!(!text.is_empty(), "{method} {path} lacks {field}");
            }
            assert!(operation["responses"]["200"].is_object(), "{method} {path} never succeeds");
            ids.push(operation["operationId"].as_str().unwrap().to_owned());
        }
    }
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count, "operation ids are unique");
}

#[tokio::test]
async fn the_document_is_there_in_yaml_too() {
    let app = TestApp::start().await;
    let path = "/api/v1/doc/api/swagger.yaml";
    let reply = app.anonymous().send_raw(Method::GET, path, Body::empty()).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("content-type"), "application/yaml");
    let text = reply.text();
    assert!(text.starts_with("\"openapi\": \"3.1.0\"\n"), "{}", &text[..80]);
    assert!(text.contains("\n  \"/chat/completions\":\n    \"post\":\n"));
}
