//! Tests of `POST /image/generate` and `POST /images/generations`, charged per image.

use axum::http::Method;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use expect_test::{Expect, expect};
use pictures::{ImageFileFormat, PixelSize};
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::upstream::UpstreamScript;

pub(crate) const PATH: &str = "/image/generate";
const OPENAI_PATH: &str = "/images/generations";
/// The price of one image with `z-image-turbo`.
const COST: i64 = 10_000_000;

/// A black image.
pub(crate) fn png(width: u32, height: u32) -> Vec<u8> {
    pictures::encode_black_image(PixelSize { width, height }, ImageFileFormat::Png).unwrap().file
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

/// An upstream's response with an image.
pub(crate) fn made(width: u32, height: u32) -> UpstreamScript {
    let picture = base64(&png(width, height));
    UpstreamScript::json(200, &json!({"created": 1, "data": [{"b64_json": picture}]}))
}

/// The format and size of a file.
pub(crate) fn told(file: &[u8]) -> (ImageFileFormat, u32, u32) {
    let head = pictures::inspect_image(file).unwrap();
    (head.format, head.size.width, head.size.height)
}

fn decoded(value: &Value) -> Vec<u8> {
    BASE64_STANDARD.decode(value.as_str().unwrap()).unwrap()
}

fn ask(extra: &Value) -> Value {
    let mut body = json!({"model": "z-image-turbo", "prompt": "a red fox"});
    for (name, value) in extra.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

#[tokio::test]
async fn a_picture_is_made_and_costs_its_price() {
    let app = TestApp::start().await;
    app.upstream.queue_script(made(1024, 768));
    let wishes = json!({
        "width": 1024, "height": 768, "seed": 0, "steps": 4, "negative_prompt": "dogs",
        "cfg_scale": 2.5, "style_preset": "Pixel Art", "unknown": 1,
    });
    let reply = app.admin().post(PATH, &ask(&wishes)).await;
    let answer = reply.ok_json();
    assert_eq!(answer["images"].as_array().unwrap().len(), 1);
    assert_eq!(told(&decoded(&answer["images"][0])), (ImageFileFormat::Webp, 1024, 768));
    assert_eq!(answer["request"]["data"]["seed"], 0);
    assert_eq!(answer["request"]["success"], true);
    let timing = &answer["timing"];
    assert!(timing["inferenceDuration"].as_u64() <= timing["total"].as_u64(), "{timing}");
    assert_eq!(reply.header("x-service-model-id"), "z-image-turbo");
    assert_eq!(reply.header("x-balance-remaining"), "9.99");
    assert_eq!(reply.header("x-ratelimit-limit-requests"), "20");
    assert_eq!(reply.header("x-service-is-blurred"), "false");
    assert_eq!(reply.header("x-service-is-content-violation"), "false");
    let expected = json!({
        "model": "z-image-turbo", "prompt": "a red fox, pixel art, limited palette, crisp pixels",
        "n": 1, "size": "1024x768", "response_format": "b64_json", "seed": 0,
        "negative_prompt": "dogs", "steps": 4, "cfg_scale": 2.5,
    });
    assert_eq!(app.upstream.received_bodies(), [expected]);
    assert_eq!(app.verify_spent().await.nanos(), COST);
    let usage = app.admin().get("/billing/usage").await.ok_json();
    assert_eq!(usage["data"][0]["sku"], "z-image-turbo-image-unit");
    assert_eq!(usage["data"][0]["units"], 1.0);
}

#[tokio::test]
async fn a_picture_can_be_returned_as_a_file_of_each_format() {
    let app = TestApp::start().await;
    let formats = [
        ("jpeg", ImageFileFormat::Jpeg),
        ("png", ImageFileFormat::Png),
        ("webp", ImageFileFormat::Webp),
        ("jpg", ImageFileFormat::Jpeg),
    ];
    for (name, format) in formats {
        app.upstream.queue_script(made(64, 64));
        let wishes = json!({"return_binary": true, "format": name, "width": 64, "height": 64});
        let reply = app.admin().post(PATH, &ask(&wishes)).await;
        if name == "jpg" {
            assert_eq!(reply.status, 400, "only edits know that name: {}", reply.text());
            continue;
        }
        assert_eq!((reply.status, reply.header("content-type")), (200, format.mime()));
        assert_eq!(told(&reply.body), (format, 64, 64));
        let name = format!("attachment; filename=\"image.{}\"", format.extension());
        assert_eq!(reply.header("content-disposition"), name);
    }
}

#[tokio::test]
async fn every_variant_is_paid_and_only_the_first_has_the_seed() {
    let app = TestApp::start().await;
    for _ in 0..3 {
        app.upstream.queue_script(made(64, 64));
    }
    let reply = app.admin().post(PATH, &ask(&json!({"variants": 3, "seed": -5}))).await;
    assert_eq!(reply.ok_json()["images"].as_array().unwrap().len(), 3);
    let mut seeds: Vec<i64> =
        app.upstream.received_bodies().iter().map(|it| it["seed"].as_i64().unwrap()).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 3, "{seeds:?}");
    assert!(seeds.contains(&(u32::MAX as i64 - 4)), "a seed below zero has a number of its own");
    assert_eq!(app.verify_spent().await.nanos(), 3 * COST);
}

#[tokio::test]
async fn a_variant_that_fails_is_left_out_and_not_paid() {
    let app = TestApp::start().await;
    app.upstream.queue_script(made(64, 64));
    app.upstream.queue_script(UpstreamScript::json(500, &json!({"error": "out of memory"})));
    app.upstream.queue_script(made(64, 64));
    let reply = app.admin().post(PATH, &ask(&json!({"variants": 3}))).await;
    assert_eq!(reply.ok_json()["images"].as_array().unwrap().len(), 2);
    assert_eq!(app.verify_spent().await.nanos(), 2 * COST);
}

#[tokio::test]
async fn what_the_upstream_does_not_make_costs_nothing() {
    let app = TestApp::start().await;
    let failures = [
        (UpstreamScript::json(500, &json!({"error": "broken"})), 500),
        (UpstreamScript::json(429, &json!({"error": "busy"})), 429),
        (UpstreamScript::json(400, &json!({"error": {"message": "no such size"}})), 400),
        (UpstreamScript::json(200, &json!({"created": 1, "data": []})), 500),
        (
            UpstreamScript::json(
                200,
                &json!({"created": 1, "data": [{"b64_json": "bm8gcGljdHVyZQ=="}]}),
            ),
            500,
        ),
        (UpstreamScript::json(200, &json!({"created": 1, "data": [{"b64_json": "?"}]})), 500),
    ];
    for (script, status) in failures {
        app.clock.advance_s(120);
        app.upstream.queue_script(script);
        let reply = app.admin().post(PATH, &ask(&json!({}))).await;
        assert_eq!(reply.status, status, "{}", reply.text());
    }
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn what_a_provider_forbids_is_black_and_free() {
    let app = TestApp::start().await;
    let refusal = json!({"error": {"code": "content_policy_violation", "message": "no"}});
    app.upstream.queue_script(UpstreamScript::json(400, &refusal));
    let wishes = json!({"return_binary": true, "format": "png", "width": 640, "height": 320});
    let reply = app.admin().post(PATH, &ask(&wishes)).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.header("x-service-is-content-violation"), "true");
    assert_eq!(told(&reply.body), (ImageFileFormat::Png, 640, 320));
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn a_file_says_how_it_was_made_only_if_asked_to() {
    let app = TestApp::start().await;
    for (embeds, expected) in [(json!(true), true), (json!(false), false), (json!(null), false)] {
        for format in ["jpeg", "png", "webp"] {
            app.upstream.queue_script(made(64, 64));
            let wishes =
                json!({"embed_exif_metadata": embeds, "format": format, "return_binary": true});
            let reply = app.admin().post(PATH, &ask(&wishes)).await;
            let text = String::from_utf8_lossy(&reply.body).into_owned();
            assert_eq!(text.contains("\"prompt\":\"a red fox\""), expected, "{format}");
            told(&reply.body);
        }
    }
}

/// Sends a request, and expects a refusal that costs nothing and reaches no upstream.
async fn check_refused(path: &str, body: &Value, expected: Expect) {
    let app = TestApp::start().await;
    let reply = app.admin().send_json(Method::POST, path, body).await;
    let details = reply.json()["details"].to_string();
    let told = if details == "null" { reply.text() } else { details };
    expected.assert_eq(&format!("{} {told}", reply.status));
    assert_eq!(app.verify_spent().await.nanos(), 0);
    assert!(app.upstream.received_bodies().is_empty());
}

#[tokio::test]
async fn what_cannot_be_passed_on_is_refused_and_not_passed_over() {
    let app = TestApp::start().await;
    let picture = base64(&png(256, 256));
    let styled =
        |model: &str, style: Value| ask(&json!({"model": model, "style_references": style}));
    let five = vec![json!({"image": picture}); 5];
    for (body, path, told) in [
        (
            styled("z-image-turbo", json!([{"image": picture}])),
            "/details/style_references/_errors/0",
            "This model takes no style references",
        ),
        (
            styled("banana-pro", json!(five)),
            "/details/style_references/_errors/0",
            "Must have at most 4 pictures for this model",
        ),
        (
            styled("banana-pro", json!([{"image": picture, "strength": 0.05}])),
            "/details/style_references/0/strength/_errors/0",
            "Must be at least 0.1",
        ),
        (
            styled("banana-pro", json!([{"image": picture, "strength": 1}])),
            "/error",
            "The model's provider takes no style references.",
        ),
        (
            ask(&json!({"enhance_prompt": true})),
            "/details/enhance_prompt/_errors/0",
            "Prompts are not rewritten; leave the field out, or send `false`",
        ),
        (
            ask(&json!({"model": "banana-pro", "disable_prompt_optimization_thinking": true})),
            "/details/disable_prompt_optimization_thinking/_errors/0",
            "This model always reasons about the prompt; leave the field out, or send `false`",
        ),
    ] {
        let reply = app.admin().post(PATH, &body).await;
        assert_eq!(reply.status, 400, "{}", reply.text());
        assert_eq!(reply.json().pointer(path), Some(&json!(told)), "{}", reply.text());
    }
    assert_eq!(app.verify_spent().await.nanos(), 0);
    // These options have no effect.
    app.upstream.queue_script(made(1024, 1024));
    let idle = json!({"enhance_prompt": false, "disable_prompt_optimization_thinking": true,
        "style_references": []});
    assert_eq!(app.admin().post(PATH, &ask(&idle)).await.status, 200);
}

#[tokio::test]
async fn every_fault_is_told_at_once() {
    let wishes = json!({
        "width": 1000, "steps": 21, "style_preset": "Nonsense", "inpaint": {"mask": 1},
        "variants": 2, "return_binary": true, "prompt": "x".repeat(1501),
    });
    check_refused(
        PATH,
        &ask(&wishes),
        expect![[r#"400 {"_errors":[],"prompt":{"_errors":["Must have at most 1500 characters for this model"]},"inpaint":{"_errors":["`inpaint` is deprecated and disabled. Use POST /image/edit."]},"style_preset":{"_errors":["Unknown style. GET /image/styles lists the available styles."]},"variants":{"_errors":["Several variants cannot be returned as one file; leave `return_binary` out"]},"steps":{"_errors":["Must be at most 20 for this model"]},"width":{"_errors":["Must be at least 64 and a multiple of 16, such as 992 or 1008"]}}"#]],
    )
    .await;
    let wishes = json!({
        "width": 1281, "cfg_scale": 0, "seed": 1_000_000_000, "variants": 5, "lora_strength": 101,
        "format": "gif", "quality": "best",
    });
    check_refused(PATH, &ask(&wishes), expect![[r#"400 {"_errors":[],"width":{"_errors":["Must be at most 1280"]},"cfg_scale":{"_errors":["Must be greater than 0"]},"seed":{"_errors":["Must be at most 999999999"]},"variants":{"_errors":["Must be at most 4"]},"lora_strength":{"_errors":["Must be at most 100"]},"format":{"_errors":["Invalid enum value. Expected 'jpeg' | 'png' | 'webp', received 'gif'"]},"quality":{"_errors":["Invalid enum value. Expected 'low' | 'medium' | 'high', received 'best'"]}}"#]]).await;
}

#[tokio::test]
async fn a_ratio_a_tier_and_a_quality_make_the_price() {
    let app = TestApp::start().await;
    let cases = [
        (json!({}), "1368x768", "high", 180_000_000),
        (json!({"aspect_ratio": "1:1", "resolution": "2K"}), "2048x2048", "high", 240_000_000),
        (json!({"aspect_ratio": "9:16", "quality": "low"}), "768x1368", "low", 20_000_000),
        (json!({"resolution": "4K", "width": 64}), "5464x3072", "high", 350_000_000),
    ];
    let mut spent = 0;
    for (wishes, size, quality, cost) in cases {
        app.upstream.queue_script(made(64, 64));
        let mut body = ask(&wishes);
        body["model"] = json!("banana-pro");
        let reply = app.admin().post(PATH, &body).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        let seen = app.upstream.received_bodies().last().unwrap().clone();
        assert_eq!((&seen["size"], &seen["quality"]), (&json!(size), &json!(quality)), "{wishes}");
        spent += cost;
        assert_eq!(app.verify_spent().await.nanos(), spent, "{wishes}");
    }
    let body = json!({
        "model": "banana-pro", "prompt": "x", "aspect_ratio": "2:1", "resolution": "8K",
    });
    check_refused(
        PATH,
        &body,
        expect![[r#"400 {"_errors":[],"aspect_ratio":{"_errors":["Must be one of 1:1, 16:9, 9:16"]},"resolution":{"_errors":["Must be one of 1K, 2K, 4K"]}}"#]],
    )
    .await;
}

#[tokio::test]
async fn whoever_cannot_pay_gets_nothing_made() {
    let app = TestApp::start().await;
    let poor = app.another_account("poor").await;
    let reply = poor.post(PATH, &ask(&json!({}))).await;
    assert_eq!(reply.status, 402, "{}", reply.text());
    assert!(app.upstream.received_bodies().is_empty());
}

#[tokio::test]
async fn openai_clients_get_their_shape() {
    let app = TestApp::start().await;
    app.upstream.queue_script(made(512, 512));
    let body = json!({"prompt": "a fox", "model": "gpt-image-9", "size": "512x512", "n": 1});
    let answer = app.admin().post(OPENAI_PATH, &body).await.ok_json();
    assert_eq!(answer.as_object().unwrap().len(), 2, "nothing but OpenAI's own: {answer}");
    assert_eq!(answer["created"], app.clock.now_s());
    assert_eq!(told(&decoded(&answer["data"][0]["b64_json"])), (ImageFileFormat::Png, 512, 512));
    assert_eq!(
        app.upstream.received_bodies()[0]["model"],
        "z-image-turbo",
        "the default for a strange name"
    );

    app.upstream.queue_script(made(64, 64));
    let body = json!({
        "prompt": "a fox", "model": "dall-e-3", "response_format": "url", "output_format": "jpeg",
        "quality": "hd", "style": "vivid", "user": "me", "moderation": "low",
    });
    let answer = app.admin().post(OPENAI_PATH, &body).await.ok_json();
    let url = answer["data"][0]["url"].as_str().unwrap();
    assert!(url.starts_with("data:image/jpeg;base64,"), "{url:.40}");
    assert_eq!(app.verify_spent().await.nanos(), 2 * COST);

    app.upstream.queue_script(made(64, 64));
    let body = json!({"prompt": "a fox", "model": "banana-pro", "size": "1024x1792"});
    app.admin().post(OPENAI_PATH, &body).await.ok_json();
    assert_eq!(app.upstream.received_bodies()[2]["aspect_ratio"], "9:16");
}

#[tokio::test]
async fn whoever_leaves_stops_the_work_and_pays_nothing() {
    let extra = r#"
        [[provider]]
        id = "diffusion"
        kind = "sdcpp"
        base_url = "http://127.0.0.1:1/v1"

        [[model]]
        id = "slow"
        type = "image"
        provider = "diffusion"
        price = { per_image_usd = "0.01" }
    "#;
    let app = TestApp::with_changed_fixture(|fixture| format!("{fixture}\n{extra}")).await;
    app.upstream
        .queue_script(UpstreamScript::json(202, &json!({"id": "job-1", "status": "queued"})));
    for _ in 0..64 {
        app.upstream.queue_script(UpstreamScript::json(
            200,
            &json!({"id": "job-1", "status": "generating"}),
        ));
    }
    let client = app.admin();
    let body = json!({"model": "slow", "prompt": "a fox"});
    {
        let asking = client.post(PATH, &body);
        tokio::pin!(asking);
        tokio::select! {
            reply = &mut asking => panic!("{}", reply.text()),
            () = async { app.upstream.wait_for_request().await; app.upstream.wait_for_request().await } => {}
        }
    }
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(10);
    let is_stopped = || app.upstream.heads().iter().any(|it| it.contains("/jobs/job-1/cancel"));
    while !is_stopped() && tokio::time::Instant::now() < deadline {
        app.upstream.wait_for_request().await;
    }
    assert!(is_stopped(), "{:?}", app.upstream.heads());
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn a_search_for_pictures_is_paid_once_for_each_request_and_only_if_one_was_made() {
    let app = TestApp::start().await;
    let body = json!({
        "model": "banana-pro", "prompt": "today's front page", "quality": "low", "variants": 2,
        "enable_web_search": true,
    });
    app.upstream.queue_script(made(64, 64));
    app.upstream.queue_script(made(64, 64));
    let reply = app.admin().post(PATH, &body).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let (pictures, search) = (2 * 20_000_000, 10_000_000);
    assert_eq!(app.verify_spent().await.nanos(), pictures + search);
    let usage = app.admin().get("/billing/usage").await.ok_json();
    let skus: Vec<&str> =
        usage["data"].as_array().unwrap().iter().map(|row| row["sku"].as_str().unwrap()).collect();
    assert_eq!(skus.iter().filter(|sku| **sku == "web-search").count(), 1, "{skus:?}");
    for _ in 0..2 {
        app.upstream.queue_script(UpstreamScript::json(500, &json!({})));
    }
    assert_ne!(app.admin().post(PATH, &body).await.status, 200);
    assert_eq!(app.verify_spent().await.nanos(), pictures + search);
}
