//! Tests of a video's start image: decoded and re-encoded for engines that fetch nothing.

use std::sync::atomic::Ordering;

use ::base64::Engine as _;
use ::base64::prelude::BASE64_STANDARD;
use engine::MediaRequest;
use pictures::ImageFileFormat;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::TestReply;

use crate::images::{base64, png, told};
use crate::video_queue::clip;

/// A model whose engine fetches nothing, and takes an optional image.
async fn app() -> TestApp {
    let app = TestApp::with_changed_fixture(|toml| {
        let kind = "starts_from = \"text-to-video\"\n";
        toml.replace(kind, &format!("{kind}image_input = true\n"))
    })
    .await;
    app.maker.takes_addresses.store(false, Ordering::SeqCst);
    app
}

async fn queue(app: &TestApp, more: Value) -> TestReply {
    let mut body = clip();
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    app.admin().post("/video/queue", &body).await
}

fn data_url(file: &[u8]) -> String {
    format!("data:image/png;base64,{}", base64(file))
}

/// Format, width and height of the image that the engine received.
async fn sent(app: &TestApp) -> (ImageFileFormat, u32, u32) {
    app.run_jobs().await;
    let image = match app.maker.last_request() {
        MediaRequest::Video(request) => request.image.unwrap(),
        MediaRequest::Music(_) => String::new(),
    };
    let file = image.strip_prefix("data:image/png;base64,").unwrap();
    told(&BASE64_STANDARD.decode(file).unwrap())
}

#[tokio::test]
async fn a_picture_is_written_anew_wherever_it_came_from() {
    let app = app().await;
    let models = app.anonymous().get("/models?type=video").await.ok_json();
    assert_eq!(models["data"][0]["model_spec"]["constraints"]["image_input"], true);
    app.site.put("/a.png", "image/png", png(300, 200));
    let addressed = json!({"image_url": "http://site.example.com/a.png"});
    assert_eq!(queue(&app, addressed).await.status, 200);
    assert_eq!(sent(&app).await, (ImageFileFormat::Png, 300, 200));
    let inline = json!({"image_url": data_url(&png(4096, 64))});
    assert_eq!(queue(&app, inline).await.status, 200);
    assert_eq!(sent(&app).await, (ImageFileFormat::Png, 2048, 32), "no larger than any frame");
    assert_eq!(app.verify_spent().await.to_string(), "1.6", "at the price of any other video");
}

#[tokio::test]
async fn what_cannot_be_opened_is_refused_before_it_costs_anything() {
    let app = app().await;
    app.site.put("/page", "text/html", "<p>no picture</p>");
    app.site.put_redirect("/inward", "http://10.0.0.1/a.png");
    let whole = png(300, 200);
    let followed = [whole.as_slice(), b"<script>"].concat();
    for (image, words) in [
        (data_url(&whole[..whole.len() / 2]), "`image_url`"),
        (data_url(&followed), "`image_url`"),
        (data_url(&png(32, 200)), "image_url"),
        ("http://site.example.com/page".to_owned(), "The image format is not supported."),
        ("http://site.example.com/gone".to_owned(), "Its host answered with the status 404."),
        ("http://site.example.com/inward".to_owned(), "redirects to a URL that is not allowed"),
        ("http://127.0.0.1/a.png".to_owned(), "image_url"),
    ] {
        let reply = queue(&app, json!({"image_url": image})).await;
        assert_eq!(reply.status, 400, "{words}: {}", reply.text());
        assert!(reply.text().contains(words), "{words}: {}", reply.text());
    }
    let ending = queue(&app, json!({"end_image_url": data_url(&whole)})).await;
    assert_eq!(ending.status, 400, "it takes a picture to start from, and no other");
    app.run_jobs().await;
    assert_eq!(app.maker.submits.load(Ordering::SeqCst), 0);
    assert_eq!(app.verify_spent().await.to_string(), "0");
}

#[tokio::test]
async fn a_repeated_request_is_answered_without_its_picture() {
    let app = app().await;
    app.site.put("/a.png", "image/png", png(300, 200));
    let mut body = clip();
    body["image_url"] = "http://site.example.com/a.png".into();
    let client = app.admin().with("idempotency-key", "once");
    let first = client.post("/video/queue", &body).await.ok_json();
    app.site.put("/a.png", "text/plain", "gone");
    assert_eq!(client.post("/video/queue", &body).await.ok_json(), first);
}
