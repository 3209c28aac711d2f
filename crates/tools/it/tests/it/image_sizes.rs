//! Tests that an image has the requested size, whatever size its provider generates.

use axum::http::Method;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use pictures::ImageFileFormat;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::TestReply;
use testkit::upstream::UpstreamScript;

use crate::images::{PATH, base64, made, png, told};

const OPENAI_PATH: &str = "/images/generations";
const OPENAI_EDIT_PATH: &str = "/images/edits";

/// A service with a model `painter` of this kind of provider.
async fn with_provider(kind: &str, more: &str) -> TestApp {
    let extra = format!(
        r#"
        [[provider]]
        id = "painters"
        kind = "{kind}"
        base_url = "http://127.0.0.1:1/v1"

        [[model]]
        id = "painter"
        type = "image"
        provider = "painters"
        price = {{ per_image_usd = "0.01" }}
        {more}
        "#
    );
    TestApp::with_changed_fixture(|fixture| format!("{fixture}\n{extra}")).await
}

async fn generate(app: &TestApp, extra: Value) -> TestReply {
    let mut body = json!({"model": "painter", "prompt": "a fox", "return_binary": true});
    body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    app.admin().post(PATH, &body).await
}

/// Requests sizes that the provider does not generate, and measures the images.
async fn check_sizes(app: &TestApp, play: impl Fn(&TestApp, u32, u32)) {
    let cases = [((256, 256), (1024, 1024)), ((1024, 1024), (512, 288)), ((640, 480), (64, 1280))];
    for ((made_width, made_height), (width, height)) in cases {
        play(app, made_width, made_height);
        let reply = generate(app, json!({"width": width, "height": height})).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert_eq!(told(&reply.body), (ImageFileFormat::Webp, width, height));
    }
}

#[tokio::test]
async fn of_an_openai_server() {
    let app = with_provider("openai", "").await;
    check_sizes(&app, |app, width, height| app.upstream.queue_script(made(width, height))).await;
}

#[tokio::test]
async fn of_stable_diffusion_cpp() {
    let app = with_provider("sdcpp", "").await;
    check_sizes(&app, |app, width, height| {
        app.upstream
            .queue_script(UpstreamScript::json(202, &json!({"id": "job-1", "status": "queued"})));
        let images = json!([{"b64_json": base64(&png(width, height))}]);
        let done = json!({"id": "job-1", "status": "completed", "result": {"images": images}});
        app.upstream.queue_script(UpstreamScript::json(200, &done));
    })
    .await;
}

#[tokio::test]
async fn of_automatic1111() {
    let app = with_provider("a1111", "").await;
    check_sizes(&app, |app, width, height| {
        let answer = json!({"images": [base64(&png(width, height))]});
        app.upstream.queue_script(UpstreamScript::json(200, &answer));
    })
    .await;
}

#[tokio::test]
async fn of_comfyui() {
    let workflow = concat!(env!("CARGO_TARGET_TMPDIR"), "/image-sizes-workflow.json");
    let node = json!({"1": {"class_type": "Paint", "inputs": {"text": "{{prompt}}"}}});
    std::fs::write(workflow, node.to_string()).unwrap();
    let app = with_provider("comfyui", &format!("workflow = {workflow:?}")).await;
    check_sizes(&app, |app, width, height| {
        app.upstream.queue_script(UpstreamScript::json(200, &json!({"prompt_id": "job-1"})));
        let images = json!([{"filename": "a.png", "subfolder": "", "type": "output"}]);
        let history = json!({"job-1": {
            "status": {"status_str": "success"}, "outputs": {"9": {"images": images}},
        }});
        app.upstream.queue_script(UpstreamScript::json(200, &history));
        app.upstream.queue_script(UpstreamScript::sound("image/png", &[&png(width, height)]));
    })
    .await;
}

#[tokio::test]
async fn of_fal() {
    let app = with_provider("fal", "").await;
    check_sizes(&app, |app, width, height| {
        let at = |path: &str| format!("{}/painter/requests/1{path}", app.upstream.base_url());
        let accepted = json!({
            "status_url": at("/status"), "response_url": at(""), "cancel_url": at("/cancel"),
        });
        app.upstream.queue_script(UpstreamScript::json(200, &accepted));
        app.upstream.queue_script(UpstreamScript::json(200, &json!({"status": "COMPLETED"})));
        let url = format!("data:image/png;base64,{}", base64(&png(width, height)));
        app.upstream.queue_script(UpstreamScript::json(200, &json!({"images": [{"url": url}]})));
    })
    .await;
}

#[tokio::test]
async fn the_least_size_is_in_the_catalogue_and_is_made() {
    let app = with_provider("openai", "min_width = 8\nmin_height = 16").await;
    let model = app.anonymous().get("/models/painter").await.ok_json();
    let constraints = &model["model_spec"]["constraints"];
    assert_eq!((&constraints["minWidth"], &constraints["minHeight"]), (&json!(8), &json!(16)));
    app.upstream.queue_script(made(256, 256));
    let reply = generate(&app, json!({"width": 8, "height": 16})).await;
    assert_eq!(told(&reply.body), (ImageFileFormat::Webp, 8, 16));
    let reply = generate(&app, json!({"width": 8, "height": 8})).await;
    assert_eq!(reply.status, 400, "{}", reply.text());
    assert!(reply.json()["details"]["height"].is_object(), "{}", reply.text());
}

#[tokio::test]
async fn openai_clients_get_exactly_their_size() {
    let app = TestApp::start().await;
    // A model sized by pixels, and one sized by ratios.
    for (model, size, (width, height)) in [
        ("z-image-turbo", "512x512", (512, 512)),
        ("z-image-turbo", "1792x1024", (1792, 1024)),
        ("banana-pro", "1024x1536", (1024, 1536)),
    ] {
        app.upstream.queue_script(made(300, 256));
        let body = json!({"prompt": "a fox", "model": model, "size": size});
        let answer = app.admin().send_json(Method::POST, OPENAI_PATH, &body).await.ok_json();
        let file = BASE64_STANDARD.decode(answer["data"][0]["b64_json"].as_str().unwrap()).unwrap();
        assert_eq!(told(&file), (ImageFileFormat::Png, width, height), "{model}");
    }
    app.upstream.queue_script(made(300, 256));
    let fields = [("prompt", "make it blue"), ("size", "256x256")];
    let files: [(&str, &str, &[u8]); 1] = [("image", "a.png", &png(512, 256))];
    let answer = app.admin().post_form_files(OPENAI_EDIT_PATH, &fields, &files).await.ok_json();
    let file = BASE64_STANDARD.decode(answer["data"][0]["b64_json"].as_str().unwrap()).unwrap();
    assert_eq!(told(&file), (ImageFileFormat::Png, 256, 256));
}

#[tokio::test]
async fn a_ratio_is_kept_where_a_provider_makes_another() {
    let app = TestApp::start().await;
    let asked = async |made_size: (u32, u32)| {
        app.upstream.queue_script(made(made_size.0, made_size.1));
        let more = json!({"model": "banana-pro", "aspect_ratio": "16:9"});
        let reply = generate(&app, more).await;
        let (_, width, height) = told(&reply.body);
        (width, height)
    };
    assert_eq!(asked((1024, 1024)).await, (1024, 576));
    assert_eq!(asked((1344, 768)).await, (1344, 768), "as the model rounds it");
}
