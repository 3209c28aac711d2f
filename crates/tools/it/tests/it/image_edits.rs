//! Tests of `POST /image/edit`, `/image/multi-edit`, `/images/edits` and `/images/variations`.
//! Files that are no images cost nothing.

use expect_test::{Expect, expect};
use pictures::{ImageFileFormat, PixelSize};
use serde_json::json;
use testkit::app::TestApp;
use testkit::client::TestReply;

use crate::images::{base64, made, png, told};

const EDIT: &str = "/image/edit";
const MULTI_EDIT: &str = "/image/multi-edit";
const OPENAI_EDIT: &str = "/images/edits";
/// The price of one edit with `firered-image-edit`.
const COST: i64 = 40_000_000;

async fn edit(app: &TestApp, file: &[u8], fields: &[(&str, &str)]) -> TestReply {
    let fields = [&[("prompt", "make it blue")][..], fields].concat();
    app.admin().post_form_files(EDIT, &fields, &[("image", "a.png", file)]).await
}

#[tokio::test]
async fn a_picture_is_edited_however_it_was_sent() {
    let app = TestApp::start().await;
    let picture = png(512, 256);
    let data_url = format!("data:image/png;base64,{}", base64(&picture));
    for image in [base64(&picture), data_url] {
        app.upstream.queue_script(made(1456, 720));
        let body = json!({"image": image, "prompt": "make it blue"});
        let reply = app.admin().post(EDIT, &body).await;
        assert_eq!(told(&reply.body), (ImageFileFormat::Png, 1456, 720));
        assert_eq!(reply.header("content-type"), "image/png");
        assert_eq!(reply.header("x-service-model-id"), "firered-image-edit");
    }
    app.upstream.queue_script(made(1456, 720));
    let reply = edit(&app, &picture, &[("modelId", "firered-image-edit")]).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let seen = app.upstream.received_bodies()[2].as_str().unwrap().to_owned();
    assert!(seen.contains("name=\"prompt\"\r\n\r\nmake it blue\r\n"), "{seen:.400}");
    assert!(seen.contains("name=\"size\"\r\n\r\n1456x720\r\n"), "{seen:.600}");
    assert!(seen.contains("name=\"image[]\"; filename=\"image-1.png\""), "{seen:.900}");
    assert!(app.upstream.heads()[2].starts_with("post /v1/images/edits "));
    assert_eq!(app.verify_spent().await.nanos(), 3 * COST);
}

#[tokio::test]
async fn a_picture_is_fetched_from_a_public_address_and_from_no_other() {
    let app = TestApp::start().await;
    app.site.put("/a.png", "image/png", png(512, 256));
    app.site.put("/page", "text/html", "<p>no picture</p>");
    app.site.put_redirect("/inward", "http://10.0.0.1/a.png");
    app.upstream.queue_script(made(1456, 720));
    let ask =
        |path: &str| json!({"image": format!("http://site.example.com{path}"), "prompt": "x"});
    let reply = app.admin().post(EDIT, &ask("/a.png")).await;
    assert_eq!(told(&reply.body), (ImageFileFormat::Png, 1456, 720), "{}", reply.text());
    for (path, told) in [
        ("/page", "The image format is not supported."),
        ("/gone", "Its host answered with the status 404."),
        ("/inward", "It redirects to a URL that is not allowed."),
    ] {
        let reply = app.admin().post(EDIT, &ask(path)).await;
        assert_eq!(reply.status, 400, "{}", reply.text());
        assert!(reply.text().contains(told), "{}", reply.text());
    }
    assert_eq!(app.verify_spent().await.nanos(), COST);
}

#[tokio::test]
async fn the_tier_makes_the_price_and_the_format() {
    let app = TestApp::start().await;
    app.upstream.queue_script(made(2048, 2048));
    let reply = edit(&app, &png(256, 256), &[("resolution", "2K")]).await;
    assert_eq!(told(&reply.body).0, ImageFileFormat::Jpeg, "beyond 1K");
    assert_eq!(app.verify_spent().await.nanos(), 60_000_000);
    app.upstream.queue_script(made(64, 64));
    let reply = edit(&app, &png(256, 256), &[("output_format", "webp")]).await;
    assert_eq!(told(&reply.body).0, ImageFileFormat::Webp);
    app.upstream.queue_script(made(64, 64));
    let reply = edit(&app, &png(256, 256), &[("output_format", "jpg")]).await;
    assert_eq!(told(&reply.body).0, ImageFileFormat::Jpeg);
}

#[tokio::test]
async fn further_pictures_are_paid_beside_the_edit() {
    let app = TestApp::start().await;
    app.upstream.queue_script(made(64, 64));
    let picture = png(256, 256);
    let files: [(&str, &str, &[u8]); 3] =
        [("images", "a", &picture), ("images", "b", &picture), ("images[]", "c", &picture)];
    let fields = [("prompt", "put them together"), ("aspect_ratio", "16:9")];
    let reply = app.admin().post_form_files(MULTI_EDIT, &fields, &files).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(app.verify_spent().await.nanos(), COST + 2 * 10_000_000);
    let usage = app.admin().get("/billing/usage").await.ok_json();
    let skus: Vec<&str> =
        usage["data"].as_array().unwrap().iter().map(|it| it["sku"].as_str().unwrap()).collect();
    assert!(skus.contains(&"firered-image-edit-inpaint-input-image"), "{skus:?}");
    let four = vec![base64(&picture); 4];
    let body = json!({"images": four, "prompt": "x", "resolution": "2K"});
    let reply = app.admin().post(MULTI_EDIT, &body).await;
    assert_eq!(
        reply.json()["details"]["images"]["_errors"][0],
        "Must have at most 3 pictures for this model"
    );
}

#[tokio::test]
async fn openai_clients_edit_and_vary() {
    let app = TestApp::start().await;
    let picture = png(256, 256);
    app.upstream.queue_script(made(64, 64));
    let files: [(&str, &str, &[u8]); 3] =
        [("image[]", "a", &picture), ("image[]", "b", &picture), ("mask", "m", &picture)];
    let fields = [("prompt", "x"), ("model", "gpt-image-1"), ("size", "1024x1024")];
    let answer = app.admin().post_form_files(OPENAI_EDIT, &fields, &files).await.ok_json();
    assert!(answer["data"][0]["b64_json"].is_string(), "{answer}");
    let seen = app.upstream.received_bodies()[0].as_str().unwrap().to_owned();
    assert!(seen.contains("name=\"mask\"; filename=\"mask.png\""), "{seen:.900}");
    app.upstream.queue_script(made(64, 64));
    let files: [(&str, &str, &[u8]); 1] = [("image", "a", &picture)];
    let answer =
        app.admin().post_form_files("/images/variations", &[("n", "1")], &files).await.ok_json();
    assert!(answer["data"][0]["b64_json"].is_string(), "{answer}");
    assert_eq!(app.verify_spent().await.nanos(), 2 * COST + 10_000_000);
}

/// Sends a file, and expects a refusal that costs nothing and reaches no upstream.
async fn check_refused(file: &[u8], expected: Expect) {
    let app = TestApp::start().await;
    edit(&app, file, &[]).await.expect(expected);
    assert_eq!(app.verify_spent().await.nanos(), 0);
    assert!(app.upstream.received_bodies().is_empty());
}

/// A PNG whose header claims these dimensions, without the pixels.
fn bomb(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = png(256, 256);
    bytes[16..20].copy_from_slice(&width.to_be_bytes());
    bytes[20..24].copy_from_slice(&height.to_be_bytes());
    let sum = crc(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&sum.to_be_bytes());
    bytes
}

pub(crate) fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum: u32, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            (sum >> 1) ^ (0xedb8_8320 & (!(sum & 1)).wrapping_add(1))
        })
    })
}

#[tokio::test]
async fn files_that_are_no_pictures_are_refused_with_the_reason() {
    check_refused(b"", expect![[r#"400 {"error":"`image`: The image format is not supported. Send a PNG, JPEG or WebP file.","code":"INVALID_IMAGE_FORMAT"}"#]]).await;
    check_refused(b"<?xml version=\"1.0\"?><svg/>", expect![[r#"400 {"error":"`image`: It is an SVG drawing. Send a PNG, JPEG or WebP file.","code":"INVALID_IMAGE_FORMAT"}"#]]).await;
    check_refused(b"GIF89a", expect![[r#"400 {"error":"`image`: It is a GIF file. Send a PNG, JPEG or WebP file.","code":"INVALID_IMAGE_FORMAT"}"#]]).await;
    check_refused(&bomb(60_000, 60_000), expect![[r#"400 {"error":"`image`: Image dimensions exceed the maximum allowed: 60000 × 60000, where at most 33177600 pixels can be taken.","code":"IMAGE_TOO_LARGE"}"#]]).await;
    check_refused(&bomb(5000, 5000), expect![[r#"400 {"error":"`image`: The image file is corrupted or unreadable.","code":"CORRUPTED_IMAGE"}"#]]).await;
    check_refused(&png(128, 128), expect![[r#"400 {"error":"`image`: Image dimensions are too small: 128 × 128, where at least 65536 pixels are needed.","code":"IMAGE_TOO_SMALL"}"#]]).await;
    let whole =
        pictures::encode_black_image(PixelSize { width: 512, height: 512 }, ImageFileFormat::Webp)
            .unwrap()
            .file;
    check_refused(&whole[..whole.len() / 2], expect![[r#"400 {"error":"`image`: The image file is corrupted or unreadable.","code":"CORRUPTED_IMAGE"}"#]]).await;
    let whole =
        pictures::encode_black_image(PixelSize { width: 512, height: 512 }, ImageFileFormat::Jpeg)
            .unwrap()
            .file;
    check_refused(&whole[..whole.len() / 2], expect![[r#"400 {"error":"`image`: The image file is corrupted or unreadable.","code":"CORRUPTED_IMAGE"}"#]]).await;
    let mut polyglot = png(256, 256);
    polyglot.extend_from_slice(b"PK\x03\x04 and so on");
    check_refused(&polyglot, expect![[r#"400 {"error":"`image`: The file contains other data after the PNG image. Send the image alone.","code":"INVALID_IMAGE_FORMAT"}"#]]).await;
}

#[tokio::test]
async fn what_does_not_fit_the_model_is_told_at_once() {
    let app = TestApp::start().await;
    let picture = base64(&png(256, 256));
    let body = json!({
        "image": picture, "prompt": "x", "aspect_ratio": "21:9", "resolution": "4K",
    });
    let reply = app.admin().post(EDIT, &body).await;
    let details = &reply.json()["details"];
    assert_eq!(details["aspect_ratio"]["_errors"][0], "Must be one of auto, 1:1, 16:9");
    assert_eq!(details["resolution"]["_errors"][0], "Must be one of 1K, 2K");
    let body = json!({"image": picture, "prompt": "x", "aspect_ratio": "1:1"});
    let reply = app.admin().post(EDIT, &body).await;
    assert_eq!(reply.status, 400, "{}", reply.text());
    let body = json!({"prompt": "x"});
    let reply = app.admin().post(EDIT, &body).await;
    assert_eq!(reply.json()["details"]["image"]["_errors"][0], "Required", "{}", reply.text());
    let body = json!({"image": "%%%", "prompt": "x"});
    let reply = app.admin().post(EDIT, &body).await;
    assert!(reply.text().contains("It is not valid base64."), "{}", reply.text());
    let body = json!({"image": "http://169.254.169.254/a.png", "prompt": "x"});
    let reply = app.admin().post(EDIT, &body).await;
    assert_eq!(reply.status, 400, "{}", reply.text());
    let body = json!({"image": "A".repeat(34_952_538), "prompt": "x"});
    let reply = app.admin().post(EDIT, &body).await;
    assert_eq!(reply.status, 413, "{:.100}", reply.text());
    assert_eq!(app.verify_spent().await.nanos(), 0);
    assert!(app.upstream.received_bodies().is_empty());
}

#[tokio::test]
async fn a_missing_picture_is_told_beside_other_faults() {
    let app = TestApp::start().await;
    let required = ["Required"];
    for (path, field) in [
        (EDIT, "image"),
        (MULTI_EDIT, "images"),
        (OPENAI_EDIT, "image"),
        ("/images/variations", "image"),
        ("/image/upscale", "image"),
        ("/image/background-remove", "image"),
    ] {
        let faulty = json!({"model": 7, field: null});
        let asked = [
            app.admin().post(path, &faulty).await,
            app.admin().post_form_files(path, &[("model", "")], &[]).await,
        ];
        for reply in asked {
            assert_eq!(reply.status, 400, "{path}: {}", reply.text());
            let details = &reply.json()["details"];
            assert_eq!(details[field]["_errors"], json!(required), "{path}: {details}");
            assert!(details["model"].is_object(), "{path}: {details}");
        }
    }
    let reply = app.admin().post(EDIT, &json!({})).await;
    let details = &reply.json()["details"];
    assert_eq!(details["image"]["_errors"], json!(required));
    assert_eq!(details["prompt"]["_errors"], json!(required));
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn a_model_without_tiers_makes_the_usual_one() {
    let app = TestApp::with_changed_fixture(|toml| {
        let priced = "resolutions = { \"2K\" = \"0.06\" }, ";
        toml.replace("resolutions = [\"1K\", \"2K\"]\n", "").replace(priced, "")
    })
    .await;
    app.upstream.queue_script(made(1024, 1024));
    let reply = edit(&app, &png(256, 256), &[("resolution", "1K")]).await;
    assert_eq!(told(&reply.body), (ImageFileFormat::Png, 1024, 1024), "{}", reply.text());
    let reply = edit(&app, &png(256, 256), &[("resolution", "2K")]).await;
    assert_eq!(reply.status, 400, "{}", reply.text());
    assert!(reply.json()["details"]["resolution"].is_object(), "{}", reply.text());
    assert_eq!(app.verify_spent().await.nanos(), COST);
}

#[tokio::test]
async fn a_prompt_is_not_rewritten_and_the_caller_is_told() {
    let app = TestApp::start().await;
    let picture = base64(&png(256, 256));
    for (path, field, value) in
        [(EDIT, "image", json!(picture)), (MULTI_EDIT, "images", json!([picture]))]
    {
        let body = json!({"prompt": "x", field: value, "enhance_prompt": true});
        let reply = app.admin().post(path, &body).await;
        assert_eq!(reply.status, 400, "{}", reply.text());
        assert!(reply.json()["details"]["enhance_prompt"].is_object(), "{}", reply.text());
        app.upstream.queue_script(made(1024, 1024));
        let body = json!({"prompt": "x", field: value, "enhance_prompt": false,
            "disable_prompt_optimization_thinking": true});
        let reply = app.admin().post(path, &body).await;
        assert_eq!(reply.status, 200, "nothing is asked for that is not so: {}", reply.text());
    }
    assert_eq!(app.verify_spent().await.nanos(), 2 * COST);
}

#[tokio::test]
async fn a_mask_goes_to_the_model_for_masks_where_no_model_is_named() {
    let extra = r#"
        [[model]]
        id = "eraser"
        type = "inpaint"
        provider = "main"
        traits = ["mask_edit"]
        price = { per_edit_usd = "0.01" }
    "#;
    let app = TestApp::with_changed_fixture(|fixture| format!("{fixture}\n{extra}")).await;
    let picture = png(256, 256);
    let masked: [(&str, &str, &[u8]); 2] = [("image", "a", &picture), ("mask", "m", &picture)];
    let named = [("prompt", "x"), ("model", "firered-image-edit")];
    for (fields, files, model) in [
        (&[("prompt", "x")][..], &masked[..], "eraser"),
        (&[("prompt", "x"), ("model", "gpt-image-1")][..], &masked[..], "eraser"),
        (&named[..], &masked[..], "firered-image-edit"),
        (&[("prompt", "x")][..], &masked[..1], "firered-image-edit"),
    ] {
        app.upstream.queue_script(made(256, 256));
        let reply = app.admin().post_form_files(OPENAI_EDIT, fields, files).await;
        assert_eq!(reply.header("x-service-model-id"), model, "{}", reply.text());
    }
}
