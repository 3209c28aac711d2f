//! Tests of `POST /audio/speech`: as a file or as a stream, charged exactly once.

use std::sync::Arc;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::upstream::UpstreamScript;
use tokio::sync::Semaphore;

pub(crate) const PATH: &str = "/audio/speech";
const TEXT: &str = "Hello there.";
/// The price of `TEXT` with `tts-kokoro`: 12 characters at 3.50 dollars per million.
const COST: i64 = 42_000;

/// Longer than the part that is held back until the charge is settled.
const FIRST: &[u8] = &[b'1'; 300];
const SECOND: &[u8] = &[b'2'; 300];

pub(crate) fn mp3() -> UpstreamScript {
    UpstreamScript::sound("audio/mpeg", &[FIRST, SECOND])
}

fn ask(extra: &Value) -> Value {
    let mut body = json!({"input": TEXT});
    for (name, value) in extra.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

fn streamed() -> Value {
    ask(&json!({"streaming": true}))
}

#[tokio::test]
async fn a_text_is_spoken_and_charged_by_the_character() {
    let app = TestApp::start().await;
    app.upstream.queue_script(mp3());
    let reply = app.admin().post(PATH, &ask(&json!({}))).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.body, [FIRST, SECOND].concat());
    assert_eq!(reply.header("content-type"), "audio/mpeg");
    assert_eq!(reply.header("content-disposition"), "attachment; filename=\"speech.mp3\"");
    assert_eq!(reply.header("x-service-model-id"), "tts-kokoro");
    assert_eq!(reply.header("x-balance-remaining"), "9.999958");
    assert_eq!(reply.header("x-service-balance-usd"), "10", "what there was before");
    assert_eq!(reply.header("x-ratelimit-limit-requests"), "60");
    let seen = app.upstream.received_bodies();
    let expected =
        json!({"model": "tts-kokoro", "input": TEXT, "voice": "af_sky", "response_format": "mp3"});
    assert_eq!(seen, [expected]);
    assert_eq!(app.verify_spent().await.nanos(), COST);
    let usage = app.admin().get("/billing/usage").await.ok_json();
    assert_eq!(usage["data"][0]["sku"], "tts-kokoro-tts-input-mcharacter");
    assert_eq!(usage["data"][0]["units"], 0.000_012);
    assert_eq!(usage["data"][0]["pricePerUnitUsd"], 3.5);
}

#[tokio::test]
async fn characters_are_counted_and_not_bytes() {
    let app = TestApp::start().await;
    app.upstream.queue_script(mp3());
    app.admin().post(PATH, &json!({"input": "Grüße, 世界!"})).await;
    assert_eq!(app.verify_spent().await.nanos(), 10 * 3_500);
}

#[tokio::test]
async fn every_format_has_its_content_type() {
    let formats = [
        ("mp3", "audio/mpeg"),
        ("opus", "audio/opus"),
        ("aac", "audio/aac"),
        ("flac", "audio/flac"),
        ("wav", "audio/wav"),
        ("pcm", "audio/pcm"),
    ];
    let app = TestApp::start().await;
    for (format, content_type) in formats {
        app.upstream.queue_script(UpstreamScript::sound("application/octet-stream", &[FIRST]));
        let reply = app.admin().post(PATH, &ask(&json!({"response_format": format}))).await;
        assert_eq!((reply.status, reply.header("content-type")), (200, content_type));
        assert_eq!(app.upstream.received_bodies().last().unwrap()["response_format"], format);
    }
}

#[tokio::test]
async fn every_wish_reaches_the_upstream() {
    let app = TestApp::start().await;
    let wishes = json!({
        "model": "tts-1", "voice": "am_adam", "speed": 1.5, "language": "en",
        "prompt": "cheerful", "something_unknown": 1, "top_p": null,
    });
    app.upstream.queue_script(mp3());
    assert_eq!(app.admin().post(PATH, &ask(&wishes)).await.status, 200);
    let expected = json!({
        "model": "tts-kokoro", "input": TEXT, "voice": "am_adam", "response_format": "mp3",
        "speed": 1.5, "instructions": "cheerful", "language": "en",
    });
    assert_eq!(app.upstream.received_bodies(), [expected]);
    app.upstream.queue_script(mp3());
    app.admin().post(PATH, &ask(&json!({"instructions": "sad"}))).await;
    assert_eq!(app.upstream.received_bodies()[1]["instructions"], "sad", "OpenAI's name for it");
}

#[tokio::test]
async fn a_model_speaks_in_its_own_default_format_and_in_voices_of_its_provider() {
    let app = TestApp::start().await;
    app.upstream.queue_script(UpstreamScript::sound("audio/wav", &[FIRST]));
    let body = ask(&json!({"model": "tts-chatterbox-hd", "voice": "somebody-elses-id"}));
    let reply = app.admin().post(PATH, &body).await;
    assert_eq!(reply.header("content-type"), "audio/wav");
    let seen = &app.upstream.received_bodies()[0];
    assert_eq!(
        (&seen["voice"], &seen["response_format"]),
        (&json!("somebody-elses-id"), &json!("wav"))
    );
}

/// Sends a request, and expects a refusal that costs nothing and reaches no upstream.
async fn check_refused(extra: Value, expected: Expect) {
    let app = TestApp::start().await;
    app.admin().post(PATH, &ask(&extra)).await.expect(expected);
    assert_eq!(app.verify_spent().await.nanos(), 0);
    assert!(app.upstream.received_bodies().is_empty());
}

#[tokio::test]
async fn a_voice_of_another_model_is_refused_with_those_there_are() {
    check_refused(
        json!({"voice": "eve"}),
        expect![[r#"400 {"error":"Voice \"eve\" is not supported by model \"tts-kokoro\". Try using a supported voice: af_alloy, af_sky, am_adam"}"#]],
    )
    .await;
    check_refused(
        json!({"voice": "vv_1", "model": "tts-chatterbox-hd"}),
        expect![[r#"400 {"error":"Voice \"vv_1\" does not exist or has expired."}"#]],
    )
    .await;
}

#[tokio::test]
async fn a_format_that_the_model_does_not_make_is_refused_with_those_it_makes() {
    check_refused(
        json!({"model": "tts-chatterbox-hd", "response_format": "mp3"}),
        expect![[r#"400 {"error":"response_format \"mp3\" is not supported by model \"tts-chatterbox-hd\". Supported formats: wav."}"#]],
    )
    .await;
}

#[tokio::test]
async fn bounds_are_those_of_the_specification() {
    check_refused(json!({"input": "a".repeat(4097)}), expect![[r#"400 {"error":"Invalid request parameters","details":{"_errors":[],"input":{"_errors":["Must contain at most 4096 character(s)"]}},"issues":[{"code":"too_big","maximum":4096,"type":"string","inclusive":true,"exact":false,"path":["input"],"message":"Must contain at most 4096 character(s)"}]}"#]]).await;
    check_refused(
        json!({"input": "?! 👋"}),
        expect![[r#"400 {"error":"Input must contain speakable text"}"#]],
    )
    .await;
    check_refused(json!({"prompt": "p", "temperature": 1, "top_p": 0.5}), expect![[r#"400 {"error":"Invalid request parameters","details":{"_errors":[],"temperature":{"_errors":["The model tts-kokoro does not take `temperature`"]},"top_p":{"_errors":["The model tts-kokoro does not take `top_p`"]}},"issues":[{"code":"custom","path":["temperature"],"message":"The model tts-kokoro does not take `temperature`"},{"code":"custom","path":["top_p"],"message":"The model tts-kokoro does not take `top_p`"}]}"#]]).await;
    let app = TestApp::start().await;
    let bad = [
        json!({"input": ""}),
        json!({"input": null}),
        json!({"input": ["a"]}),
        json!({"speed": 0.24}),
        json!({"speed": 4.01}),
        json!({"response_format": "m4a"}),
        json!({"language": "e"}),
        json!({"language": "e".repeat(33)}),
        json!({"prompt": "p".repeat(501)}),
        json!({"temperature": 2.1}),
        json!({"top_p": 1.1}),
        json!({"streaming": "yes"}),
        json!({"model": "kimi-k3"}),
        json!({"voice": ""}),
    ];
    for extra in bad {
        let reply = app.admin().post(PATH, &ask(&extra)).await;
        assert_eq!(reply.status, 400, "{extra}: {}", reply.text());
    }
    for (extra, good) in [(json!({"speed": 0.25}), "slow"), (json!({"speed": 4}), "fast")] {
        app.upstream.queue_script(mp3());
        assert_eq!(app.admin().post(PATH, &ask(&extra)).await.status, 200, "{good}");
    }
    app.upstream.queue_script(mp3());
    let longest = json!({"input": "ä".repeat(4096)});
    assert_eq!(app.admin().post(PATH, &longest).await.status, 200);
    assert_eq!(app.admin().post(PATH, &ask(&json!({"model": "tts-kokora"}))).await.status, 404);
}

#[tokio::test]
async fn a_wav_file_knows_its_length_although_it_was_streamed() {
    let app = TestApp::start().await;
    let mut streamed =
        include_bytes!("../../../../formats/audio-probe/samples/streamed.wav").to_vec();
    streamed[40..44].fill(0xff);
    app.upstream.queue_script(UpstreamScript::sound("audio/wav", &[&streamed]));
    let reply = app.admin().post(PATH, &ask(&json!({"response_format": "wav"}))).await;
    let size = u32::from_le_bytes(reply.body[40..44].try_into().unwrap());
    assert_eq!(usize::try_from(size).unwrap(), streamed.len() - 44);
}

#[tokio::test]
async fn sound_is_not_compressed_again() {
    let app = TestApp::start().await;
    app.upstream.queue_script(mp3());
    let reply = app.admin().with("accept-encoding", "gzip, br").post(PATH, &ask(&json!({}))).await;
    assert_eq!(reply.header("content-encoding"), "");
    assert_eq!(reply.body.len(), FIRST.len() + SECOND.len());
}

#[tokio::test]
async fn a_stream_comes_while_it_is_made_and_its_end_waits_for_the_money() {
    let app = TestApp::start().await;
    let pace = Arc::new(Semaphore::new(1));
    app.upstream.queue_script(mp3().with_pace(&pace));
    let mut reply = app.admin().open(PATH, &streamed()).await;
    assert_eq!(
        (reply.status, &reply.headers["content-type"]),
        (200, &"audio/mpeg".parse().unwrap())
    );
    assert_eq!(reply.headers["x-balance-remaining"], "9.999958");
    let mut heard = reply.next_bytes().await.unwrap().unwrap().to_vec();
    assert!(FIRST.starts_with(&heard) && 200 < heard.len(), "{} bytes", heard.len());
    assert_eq!(app.app.ledger.status().settled_total, 0);
    pace.add_permits(1);
    while heard.len() < FIRST.len() + SECOND.len() {
        heard.extend_from_slice(&reply.next_bytes().await.unwrap().unwrap());
    }
    assert_eq!(app.app.ledger.status().settled_total, 1, "paid before the last byte");
    assert_eq!(reply.remaining_bytes().await, (Vec::new(), true));
    assert_eq!(heard, [FIRST, SECOND].concat());
    assert_eq!(app.verify_spent().await.nanos(), COST);
}

#[tokio::test]
async fn whoever_hangs_up_on_a_stream_ends_it_and_pays_for_the_text() {
    let app = TestApp::start().await;
    let pace = Arc::new(Semaphore::new(1));
    app.upstream.queue_script(mp3().with_pace(&pace));
    let mut reply = app.admin().open(PATH, &streamed()).await;
    reply.next_bytes().await.unwrap().unwrap();
    drop(reply);
    app.upstream.wait_for_hangup().await;
    assert_eq!(app.verify_spent().await.nanos(), COST);
}

#[tokio::test]
async fn whoever_hangs_up_before_any_sound_pays_nothing() {
    let app = TestApp::start().await;
    let pace = Arc::new(Semaphore::new(0));
    app.upstream.queue_script(mp3().with_pace(&pace));
    let body = streamed();
    let caller = app.admin();
    tokio::select! {
        reply = caller.open(PATH, &body) => panic!("answered with {}", reply.status),
        () = app.upstream.wait_for_request() => {}
    }
    app.upstream.wait_for_hangup().await;
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn a_file_that_nobody_waits_for_is_paid() {
    let app = TestApp::start().await;
    let pace = Arc::new(Semaphore::new(0));
    app.upstream.queue_script(mp3().with_pace(&pace));
    let body = ask(&json!({}));
    let caller = app.admin();
    tokio::select! {
        reply = caller.post(PATH, &body) => panic!("answered with {}", reply.status),
        () = app.upstream.wait_for_request() => {}
    }
    pace.add_permits(2);
    assert_eq!(app.verify_spent().await.nanos(), COST);
}

#[tokio::test]
async fn sound_that_breaks_off_is_no_file_and_costs_nothing() {
    for bytes in [1, 63, 64, 65, 300, 599] {
        let app = TestApp::start().await;
        app.upstream.queue_script(mp3().break_after(bytes));
        let mut reply = app.admin().open(PATH, &streamed()).await;
        let (heard, is_whole) = reply.remaining_bytes().await;
        let is_told = reply.status == 500 || !is_whole;
        assert!(is_told, "cut after {bytes}: {} and {} bytes", reply.status, heard.len());
        assert!(heard.len() < 600 || reply.status == 500);
        assert_eq!(app.verify_spent().await.nanos(), 0, "cut after {bytes}");

        app.upstream.queue_script(mp3().break_after(bytes));
        let reply = app.admin().post(PATH, &ask(&json!({}))).await;
        reply.expect(expect![[r#"500 {"error":"Inference processing failed"}"#]]);
        assert_eq!(app.verify_spent().await.nanos(), 0, "cut after {bytes}");
    }
}

#[tokio::test]
async fn a_failure_before_the_first_byte_has_its_status_and_costs_nothing() {
    let error = |code: &str| json!({"error": {"message": "the upstream's words", "code": code}});
    let cases = [
        (UpstreamScript::json(400, &error("bad")), 400),
        (UpstreamScript::json(200, &error("rate_limit_exceeded")), 429),
        (UpstreamScript::json(401, &error("no")), 503),
        (UpstreamScript::json(400, &error("content_filter")), 422),
        (UpstreamScript::json(504, &error("slow")), 504),
        (UpstreamScript::sound("audio/mpeg", &[]), 500),
        (UpstreamScript::sound("text/html", &[b"<p>no</p>"]), 500),
    ];
    for (script, status) in cases {
        for body in [streamed(), ask(&json!({}))] {
            let app = TestApp::start().await;
            app.upstream.queue_script(script.clone());
            let reply = app.admin().post(PATH, &body).await;
            assert_eq!(reply.status, status, "{}", reply.text());
            assert!(reply.json()["error"].is_string());
            assert_eq!(app.verify_spent().await.nanos(), 0);
        }
    }
    let app = TestApp::start().await;
    app.upstream.queue_script(UpstreamScript::sound("audio/mpeg", &[]));
    let reply = app.admin().post(PATH, &streamed()).await;
    reply.expect(expect![[r#"500 {"error":"Stream error"}"#]]);
}

#[tokio::test]
async fn an_account_without_money_is_told_so_before_any_work() {
    let app = TestApp::start().await;
    let poor = app.another_account("poor").await;
    poor.post(PATH, &ask(&json!({}))).await.expect(expect![[r#"402 {"error":"Insufficient USD or Diem balance to complete request. Up to $0.000042 is needed and $0 is available. Visit http://testhost/#/top-up to add credits in USDC, with a wallet that is linked to the account, or ask the operator of this service.","code":"INSUFFICIENT_BALANCE"}"#]]);
    assert!(app.upstream.received_bodies().is_empty());
}

#[tokio::test]
async fn the_sixty_first_request_of_a_minute_waits() {
    let app = TestApp::start().await;
    for _ in 0..60 {
        app.upstream.queue_script(mp3());
        assert_eq!(app.admin().post(PATH, &ask(&json!({}))).await.status, 200);
    }
    let refused = app.admin().post(PATH, &ask(&json!({}))).await;
    assert_eq!(refused.status, 429);
    app.clock.advance_s(refused.header("retry-after").parse().unwrap());
    app.upstream.queue_script(mp3());
    assert_eq!(app.admin().post(PATH, &ask(&json!({}))).await.status, 200);
}

#[tokio::test]
async fn without_kokoro_the_default_voice_speaks() {
    let app = TestApp::with_changed_fixture(|fixture| {
        fixture.replace("id = \"tts-kokoro\"", "id = \"tts-other\"")
    })
    .await;
    app.upstream.queue_script(mp3());
    let reply = app.admin().post(PATH, &ask(&json!({}))).await;
    assert_eq!(reply.header("x-service-model-id"), "tts-other");
}
