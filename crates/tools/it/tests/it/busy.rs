//! Tests of requests that the service is too busy for: they cost the caller nothing.

use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::TestReply;

const LEFT: &str = "x-ratelimit-remaining-requests";
const ALLOWED: &str = "x-ratelimit-limit-requests";

/// Sends a request that needs the address of a host while too many names are being looked up.
async fn ask_busy(app: &TestApp, path: &str, body: &Value) -> TestReply {
    let reply = app.admin().post(path, body).await;
    assert_eq!(reply.status, 503, "{path}: {}", reply.text());
    assert_eq!(reply.json()["code"], "SERVICE_BUSY", "{path}");
    reply
}

#[tokio::test]
async fn a_request_that_the_service_is_too_busy_for_uses_up_none_of_the_minute() {
    let app = TestApp::start().await;
    let picture = "http://busy.example.com/a.png";
    for (path, body) in [
        ("/augment/scrape", json!({"url": "http://busy.example.com/"})),
        ("/image/edit", json!({"image": picture, "prompt": "make it blue"})),
        ("/image/upscale", json!({"image": picture})),
    ] {
        if path == "/image/upscale" {
            crate::image_tools::paint_with(&app);
        }
        for _ in 0..3 {
            let reply = ask_busy(&app, path, &body).await;
            assert_eq!(reply.header(LEFT), reply.header(ALLOWED), "{path}");
        }
    }
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn requests_that_the_service_is_too_busy_for_do_not_block_their_caller() {
    let app = TestApp::start().await;
    // More than the failures that block a caller.
    for _ in 0..25 {
        ask_busy(&app, "/augment/scrape", &json!({"url": "http://busy.example.com/"})).await;
    }
    assert_eq!(app.admin().get("/models").await.status, 200);
}
