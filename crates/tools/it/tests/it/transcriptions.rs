//! Tests of `POST /audio/transcriptions`, charged per second.

use std::sync::Arc;

use axum::http::Method;
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::TestReply;
use testkit::upstream::UpstreamScript;
use tokio::sync::Semaphore;

pub(crate) const PATH: &str = "/audio/transcriptions";
/// A recording of 1.5 seconds.
pub(crate) const TONE: &[u8] = include_bytes!("../../../../formats/audio-probe/samples/tone.wav");
/// Two started seconds with `parakeet`, at a hundredth of a cent each.
const COST: i64 = 200_000;

pub(crate) fn hello() -> UpstreamScript {
    UpstreamScript::json(200, &json!({"text": "Hello there."}))
}

/// A transcript with every field that an upstream may send.
fn verbose() -> UpstreamScript {
    let segment = json!({"id": 0, "seek": 0, "start": 0.0, "end": 1.2, "text": " Hello there.",
        "tokens": [1, 2], "temperature": 0.0, "avg_logprob": -0.3, "compression_ratio": 0.6,
        "no_speech_prob": 0.01});
    let words = json!([{"word": "Hello", "start": 0.0, "end": 0.5},
        {"word": "there", "start": 0.5, "end": 1.2}]);
    UpstreamScript::json(
        200,
        &json!({"task": "transcribe", "language": "english", "duration": 1.5,
        "text": "Hello there.", "segments": [segment], "words": words}),
    )
}

async fn send(app: &TestApp, fields: &[(&str, &str)]) -> TestReply {
    app.admin().post_form(PATH, fields, Some(("tone.wav", TONE))).await
}

#[tokio::test]
async fn a_recording_is_written_down_and_charged_by_the_second() {
    let app = TestApp::start().await;
    app.upstream.queue_script(hello());
    let reply = send(&app, &[("model", "whisper-1")]).await;
    reply.expect(expect![[r#"200 {"text":"Hello there.","duration":1.5}"#]]);
    assert_eq!(reply.header("x-service-model-id"), "parakeet");
    assert_eq!(reply.header("x-balance-remaining"), "9.9998");
    assert_eq!(reply.header("x-ratelimit-limit-requests"), "60");
    let seen = app.upstream.received_bodies()[0].as_str().unwrap().to_owned();
    assert!(seen.contains("filename=\"audio.wav\""), "{seen:.300}");
    assert!(seen.contains("name=\"model\"\r\n\r\nparakeet\r\n"), "{seen:.300}");
    assert!(seen.contains("name=\"response_format\"\r\n\r\njson\r\n"), "{seen:.300}");
    assert_eq!(app.verify_spent().await.nanos(), COST);
    let usage = app.admin().get("/billing/usage").await.ok_json();
    assert_eq!(usage["data"][0]["sku"], "parakeet-asr-audio-second");
    assert_eq!(usage["data"][0]["units"], 2.0);
}

#[tokio::test]
async fn every_format_is_known_by_its_content_whatever_its_name() {
    let samples: [(&str, &[u8]); 9] = [
        ("wav", TONE),
        ("flac", include_bytes!("../../../../formats/audio-probe/samples/tone.flac")),
        ("mp3", include_bytes!("../../../../formats/audio-probe/samples/tagged.mp3")),
        ("aac", include_bytes!("../../../../formats/audio-probe/samples/tone.aac")),
        ("m4a", include_bytes!("../../../../formats/audio-probe/samples/tone.m4a")),
        ("mp4", include_bytes!("../../../../formats/audio-probe/samples/fragmented.mp4")),
        ("ogg", include_bytes!("../../../../formats/audio-probe/samples/tone.opus.ogg")),
        ("ogg", include_bytes!("../../../../formats/audio-probe/samples/tone.vorbis.ogg")),
        ("webm", include_bytes!("../../../../formats/audio-probe/samples/live.webm")),
    ];
    let app = TestApp::start().await;
    for (extension, content) in samples {
        app.upstream.queue_script(hello());
        let reply = app.admin().post_form(PATH, &[], Some(("song.txt", content))).await;
        assert_eq!(reply.status, 200, "{extension}: {}", reply.text());
        let seen = app.upstream.received_bodies().last().unwrap().as_str().unwrap().to_owned();
        assert!(seen.contains(&format!("filename=\"audio.{extension}\"")), "{seen:.300}");
    }
    assert_eq!(app.verify_spent().await.nanos(), 9 * COST);
}

async fn check_form(fields: &[(&str, &str)], expected: Expect) {
    let app = TestApp::start().await;
    app.upstream.queue_script(verbose());
    let reply = send(&app, fields).await;
    let content_type = reply.header("content-type");
    expected.assert_eq(&format!("{} {content_type}\n{}\n", reply.status, reply.text()));
    assert_eq!(app.verify_spent().await.nanos(), COST);
}

#[tokio::test]
async fn a_transcript_comes_in_the_form_that_was_asked_for() {
    check_form(
        &[("response_format", "json")],
        expect![[r#"
        200 application/json
        {"text":"Hello there.","duration":1.5}
    "#]],
    )
    .await;
    check_form(
        &[("response_format", "text")],
        expect![[r#"
        200 text/plain; charset=utf-8
        Hello there.
    "#]],
    )
    .await;
    check_form(&[("timestamps", "true")], expect![[r#"
        200 application/json
        {"text":"Hello there.","duration":1.5,"timestamps":{"word":[{"word":"Hello","start":0.0,"end":0.5},{"word":"there","start":0.5,"end":1.2}],"segment":[{"text":" Hello there.","start":0.0,"end":1.2}],"char":[{"char":"H","start":0.0,"end":0.1},{"char":"e","start":0.1,"end":0.2},{"char":"l","start":0.2,"end":0.3},{"char":"l","start":0.3,"end":0.4},{"char":"o","start":0.4,"end":0.5},{"char":"t","start":0.5,"end":0.64},{"char":"h","start":0.64,"end":0.78},{"char":"e","start":0.78,"end":0.92},{"char":"r","start":0.92,"end":1.06},{"char":"e","start":1.06,"end":1.2}]}}
    "#]]).await;
    check_form(&[("timestamp_granularities[]", "word")], expect![[r#"
        200 application/json
        {"text":"Hello there.","duration":1.5,"timestamps":{"word":[{"word":"Hello","start":0.0,"end":0.5},{"word":"there","start":0.5,"end":1.2}]}}
    "#]]).await;
    check_form(&[("response_format", "verbose_json")], expect![[r#"
        200 application/json
        {"task":"transcribe","language":"english","duration":1.5,"text":"Hello there.","segments":[{"id":0,"start":0.0,"end":1.2,"text":" Hello there.","temperature":0.0,"avg_logprob":-0.3,"compression_ratio":0.6,"no_speech_prob":0.01}]}
    "#]]).await;
    check_form(
        &[
            ("response_format", "verbose_json"),
            ("timestamp_granularities[]", "word"),
            ("timestamp_granularities[]", "segment"),
        ],
        expect![[r#"
            200 application/json
            {"task":"transcribe","language":"english","duration":1.5,"text":"Hello there.","segments":[{"id":0,"start":0.0,"end":1.2,"text":" Hello there.","temperature":0.0,"avg_logprob":-0.3,"compression_ratio":0.6,"no_speech_prob":0.01}],"words":[{"word":"Hello","start":0.0,"end":0.5},{"word":"there","start":0.5,"end":1.2}]}
        "#]],
    )
    .await;
    check_form(
        &[("response_format", "srt")],
        expect![[r#"
        200 text/plain; charset=utf-8
        1
        00:00:00,000 --> 00:00:01,200
        Hello there.


    "#]],
    )
    .await;
    check_form(
        &[("response_format", "vtt")],
        expect![[r#"
        200 text/plain; charset=utf-8
        WEBVTT

        00:00:00.000 --> 00:00:01.200
        Hello there.


    "#]],
    )
    .await;
}

#[tokio::test]
async fn every_wish_reaches_the_upstream() {
    let app = TestApp::start().await;
    app.upstream.queue_script(verbose());
    let fields = [
        ("timestamps", "true"),
        ("language", "EN"),
        ("prompt", "Tollgate"),
        ("temperature", "0.5"),
    ];
    assert_eq!(send(&app, &fields).await.status, 200);
    let seen = app.upstream.received_bodies()[0].as_str().unwrap().to_owned();
    let sent = [
        ("response_format", "verbose_json"),
        ("timestamp_granularities[]", "word"),
        ("timestamp_granularities[]", "segment"),
        ("language", "en"),
        ("prompt", "Tollgate"),
        ("temperature", "0.5"),
    ];
    for (name, value) in sent {
        assert!(
            seen.contains(&format!("name=\"{name}\"\r\n\r\n{value}\r\n")),
            "{name}: {seen:.900}"
        );
    }
}

/// Sends a file, and expects a refusal that costs nothing and reaches no upstream.
async fn check_refused(file: Option<(&str, &[u8])>, fields: &[(&str, &str)], expected: Expect) {
    let app = TestApp::start().await;
    app.admin().post_form(PATH, fields, file).await.expect(expected);
    assert_eq!(app.verify_spent().await.nanos(), 0);
    assert!(app.upstream.received_bodies().is_empty());
}

#[tokio::test]
async fn what_is_no_recording_is_refused_before_any_work() {
    check_refused(None, &[], expect![[r#"400 {"error":"No audio file provided"}"#]]).await;
    check_refused(
        None,
        &[("file", "UklGRg==")],
        expect![[r#"400 {"error":"No audio file provided. Send `file` as a file, not as text."}"#]],
    )
    .await;
    check_refused(Some(("a.wav", b"")), &[], expect![[r#"400 {"error":"The audio could not be processed for transcription: the file is empty.","code":"INVALID_AUDIO_FORMAT"}"#]]).await;
    check_refused(Some(("a.wav", b"no sound at all")), &[], expect![[r#"400 {"error":"The audio could not be processed for transcription: the format is not supported: send WAV, FLAC, MP3, AAC, MP4, M4A, OGG or WEBM.","code":"INVALID_AUDIO_FORMAT"}"#]]).await;
    check_refused(Some(("a.wav", &TONE[..44])), &[], expect![[r#"422 {"error":"The audio could not be processed for transcription: the WAV file is damaged or truncated, or has no audio.","code":"ASR_UPSTREAM_VALIDATION_FAILED"}"#]]).await;
}

#[tokio::test]
async fn a_file_beyond_the_limit_is_refused_in_its_own_words() {
    let large = [TONE, &vec![0; 25 * 1024 * 1024]].concat();
    check_refused(Some(("a.wav", &large)), &[], expect![[r#"413 {"code":"PAYLOAD_TOO_LARGE","error":"File exceeds the maximum allowed size of 25 MB."}"#]]).await;
    let larger = vec![0; 40 * 1024 * 1024];
    check_refused(Some(("a.wav", &larger)), &[], expect![[r#"413 {"code":"PAYLOAD_TOO_LARGE","error":"File exceeds the maximum allowed size of 25 MB."}"#]]).await;
}

#[tokio::test]
async fn bad_fields_are_refused() {
    let app = TestApp::start().await;
    let bad = [
        ("response_format", "xml"),
        ("timestamps", "perhaps"),
        ("language", "e"),
        ("temperature", "1.5"),
        ("timestamp_granularities[]", "letter"),
        ("model", "kimi-k3"),
    ];
    for (name, value) in bad {
        let reply = send(&app, &[(name, value)]).await;
        assert_eq!(reply.status, 400, "{name}: {}", reply.text());
    }
    assert_eq!(send(&app, &[("model", "parakeat")]).await.status, 404);
    let body = axum::body::Body::from("{}");
    let json = app.admin().with("content-type", "application/json");
    assert_eq!(json.send(Method::POST, PATH, body).await.status, 415);
}

/// Checks the cost of a transcript with this response.
async fn check_cost(answer: Value, expected: i64) {
    let app = TestApp::start().await;
    app.upstream.queue_script(UpstreamScript::json(200, &answer));
    assert_eq!(send(&app, &[]).await.status, 200);
    assert_eq!(app.verify_spent().await.nanos(), expected, "{answer}");
}

#[tokio::test]
async fn nobody_pays_for_more_than_was_heard_or_than_there_is() {
    check_cost(json!({"text": "Hi.", "duration": 0.9}), COST / 2).await;
    check_cost(json!({"text": "Hi.", "duration": "1.4"}), COST).await;
    check_cost(json!({"text": "Hi.", "usage": {"type": "duration", "seconds": 1}}), COST / 2).await;
    for nonsense in [json!(86_400), json!(-1), json!(0), json!(1e300), json!("long")] {
        check_cost(json!({"text": "Hi.", "duration": nonsense}), COST).await;
    }
}

#[tokio::test]
async fn a_recording_of_silence_costs_nothing() {
    check_cost(json!({"text": ""}), 0).await;
    check_cost(json!({"text": " \n"}), 0).await;
}

#[tokio::test]
async fn a_failure_of_the_upstream_is_told_and_costs_nothing() {
    let error = json!({"error": {"message": "too noisy", "code": "bad"}});
    let cases = [
        (UpstreamScript::json(400, &error), 422),
        (UpstreamScript::json(413, &error), 422),
        (UpstreamScript::json(429, &error), 429),
        (UpstreamScript::json(401, &error), 503),
        (UpstreamScript::json(500, &error), 502),
        (UpstreamScript::json(200, &json!({"no": "text"})), 502),
        (
            UpstreamScript::json(200, &json!({"text": "Hello"}))
                .header("content-length", "99")
                .break_after(5),
            502,
        ),
        (UpstreamScript::json(504, &error), 504),
    ];
    for (script, status) in cases {
        let app = TestApp::start().await;
        app.upstream.queue_script(script);
        let reply = send(&app, &[]).await;
        assert_eq!(reply.status, status, "{}", reply.text());
        assert_eq!(app.verify_spent().await.nanos(), 0);
    }
    let app = TestApp::start().await;
    app.upstream.queue_script(UpstreamScript::json(400, &error));
    send(&app, &[]).await.expect(expect![[r#"422 {"error":"The audio could not be processed for transcription: too noisy","code":"ASR_UPSTREAM_VALIDATION_FAILED"}"#]]);
    app.upstream.queue_script(UpstreamScript::json(500, &error));
    send(&app, &[]).await.expect(expect![[r#"502 {"error":"The transcription failed. Please try again later.","code":"ASR_UPSTREAM_FAILED"}"#]]);
}

#[tokio::test]
async fn a_transcript_that_nobody_waits_for_is_paid() {
    let app = TestApp::start().await;
    let pace = Arc::new(Semaphore::new(0));
    app.upstream.queue_script(hello().with_pace(&pace));
    tokio::select! {
        reply = send(&app, &[]) => panic!("answered with {}", reply.status),
        () = app.upstream.wait_for_request() => {}
    }
    pace.add_permits(1);
    assert_eq!(app.verify_spent().await.nanos(), COST);
}

#[tokio::test]
async fn an_account_without_money_is_told_so_before_any_work() {
    let app = TestApp::start().await;
    let poor = app.another_account("poor").await;
    let reply = poor.post_form(PATH, &[], Some(("tone.wav", TONE))).await;
    reply.expect(expect![[r#"402 {"error":"Insufficient USD or Diem balance to complete request. Up to $0.0001 is needed and $0 is available. Visit http://testhost/#/top-up to add credits in USDC, with a wallet that is linked to the account, or ask the operator of this service.","code":"INSUFFICIENT_BALANCE"}"#]]);
    assert!(app.upstream.received_bodies().is_empty());
}

#[tokio::test]
async fn a_stranger_is_told_how_to_pay_however_large_the_file() {
    let app = TestApp::start().await;
    let large = vec![0; 1024 * 1024];
    for file in [TONE, &large] {
        let reply = app.anonymous().post_form(PATH, &[], Some(("tone.wav", file))).await;
        assert_eq!(reply.status, 402, "{}", reply.text());
        assert_eq!(reply.json()["code"], "AUTHENTICATION_REQUIRED");
    }
}

#[tokio::test]
async fn characters_share_the_time_of_their_word() {
    let app = TestApp::start().await;
    app.upstream.queue_script(verbose());
    let reply = send(&app, &[("timestamps", "true")]).await.ok_json();
    let characters = reply["timestamps"]["char"].as_array().unwrap().clone();
    assert_eq!(characters.len(), 10);
    assert_eq!(characters[0], json!({"char": "H", "start": 0.0, "end": 0.1}));
    assert_eq!(characters[9]["end"], 1.2);
    app.upstream.queue_script(verbose());
    let fields = [("timestamp_granularities[]", "char")];
    let timestamps = send(&app, &fields).await.ok_json()["timestamps"].clone();
    assert!(timestamps["char"].is_array() && timestamps["segment"].is_null(), "{timestamps}");
}

#[tokio::test]
async fn a_model_without_times_says_so_and_costs_nothing() {
    let app = TestApp::start().await;
    app.upstream.queue_script(hello());
    let reply = send(&app, &[("timestamps", "true")]).await;
    assert_eq!(reply.status, 400, "{}", reply.text());
    assert!(reply.text().contains("does not return timestamps"), "{}", reply.text());
    assert_eq!(app.verify_spent().await.nanos(), 0);
    app.upstream.queue_script(UpstreamScript::json(200, &json!({"text": ""})));
    assert_eq!(send(&app, &[("timestamps", "true")]).await.status, 200, "silence has no times");
}
