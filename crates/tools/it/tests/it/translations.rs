//! Tests of `POST /audio/translations`, charged as a transcription.

use expect_test::expect;
use serde_json::json;
use testkit::app::TestApp;
use testkit::client::TestReply;
use testkit::upstream::UpstreamScript;

use crate::transcriptions::TONE;

pub(crate) const PATH: &str = "/audio/translations";

pub(crate) fn hello() -> UpstreamScript {
    let segment = json!({"start": 0.0, "end": 1.2, "text": " Good morning."});
    UpstreamScript::json(
        200,
        &json!({"task": "translate", "language": "german", "duration": 1.5,
            "text": "Good morning.", "segments": [segment]}),
    )
}

async fn send(app: &TestApp, fields: &[(&str, &str)]) -> TestReply {
    app.admin().post_form(PATH, fields, Some(("tone.wav", TONE))).await
}

#[tokio::test]
async fn a_recording_is_translated_by_the_provider_and_charged_by_the_second() {
    let app = TestApp::start().await;
    app.upstream.queue_script(hello());
    let fields = [("model", "whisper-1"), ("prompt", "Greetings"), ("temperature", "0.5")];
    let reply = send(&app, &fields).await;
    reply.expect(expect![[r#"200 {"text":"Good morning.","duration":1.5}"#]]);
    assert_eq!(reply.header("x-service-model-id"), "parakeet");
    assert!(app.upstream.heads()[0].starts_with("post /v1/audio/translations "));
    let seen = app.upstream.received_bodies()[0].as_str().unwrap().to_owned();
    assert!(seen.contains("name=\"model\"\r\n\r\nparakeet\r\n"), "{seen:.300}");
    assert!(seen.contains("name=\"prompt\"\r\n\r\nGreetings\r\n"), "{seen:.300}");
    assert!(!seen.contains("name=\"language\""), "{seen:.300}");
    assert_eq!(app.verify_spent().await.nanos(), 200_000);
    let usage = app.admin().get("/billing/usage").await.ok_json();
    assert_eq!(usage["data"][0]["sku"], "parakeet-asr-audio-second");
}

#[tokio::test]
async fn every_format_is_in_english() {
    let app = TestApp::start().await;
    for (format, expected) in [
        ("text", expect!["200 Good morning."]),
        (
            "srt",
            expect![[r#"
            200 1
            00:00:00,000 --> 00:00:01,200
            Good morning.

        "#]],
        ),
        (
            "verbose_json",
            expect![[
                r#"200 {"task":"translate","language":"english","duration":1.5,"text":"Good morning.","segments":[{"id":0,"start":0.0,"end":1.2,"text":" Good morning."}]}"#
            ]],
        ),
    ] {
        app.upstream.queue_script(hello());
        send(&app, &[("response_format", format)]).await.expect(expected);
    }
}

#[tokio::test]
async fn a_model_that_cannot_translate_is_named_and_costs_nothing() {
    let app = TestApp::start().await;
    app.upstream.queue_script(UpstreamScript::json(404, &json!({"detail": "Not Found"})));
    let reply = send(&app, &[]).await;
    assert_eq!(reply.status, 400, "{}", reply.text());
    assert!(reply.text().contains("The model parakeet cannot translate."), "{}", reply.text());
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn a_form_without_a_recording_is_refused() {
    let app = TestApp::start().await;
    assert_eq!(app.admin().post_form(PATH, &[], None).await.status, 400);
    let junk = app.admin().post_form(PATH, &[], Some(("a.wav", b"no sound".as_slice()))).await;
    assert_eq!(junk.status, 400, "{}", junk.text());
    assert!(app.upstream.received_bodies().is_empty());
}
