//! Tests of `POST /audio/voices`: a cloned voice works only for its owner.

use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::TestReply;
use testkit::upstream::UpstreamScript;

use crate::speech;
use crate::transcriptions::TONE;

pub(crate) const PATH: &str = "/audio/voices";
const DAY_S: u64 = 86_400;

/// An upstream's response with a cloned voice.
pub(crate) fn learned() -> UpstreamScript {
    UpstreamScript::json(200, &json!({"object": "audio.voice", "id": "voice_abc", "name": "x"}))
}

/// A model that clones voices from one second of any sound.
pub(crate) async fn app() -> TestApp {
    let cloner = r#"
        [[model]]
        id = "tts-cloner"
        type = "tts"
        provider = "main"
        formats = ["mp3"]
        voices = ["one"]
        voice_cloning = { mode = "persistent", accepted_formats = ["wav", "mp3"], min_sample_seconds = 1, retention_days = 7 }
        price = { input_usd_per_million_characters = "10.00" }
    "#;
    TestApp::with_changed_fixture(|fixture| {
        let fixture = fixture.replace("min_sample_seconds = 10", "min_sample_seconds = 1");
        format!("{fixture}\n{cloner}")
    })
    .await
}

async fn learn(app: &TestApp) -> String {
    app.upstream.queue_script(learned());
    let reply =
        app.admin().post_form(PATH, &[("model", "tts-cloner")], Some(("a.wav", TONE))).await;
    let answer = reply.ok_json();
    assert_eq!(answer.as_object().unwrap().len(), 2, "{answer}");
    assert_eq!(answer["model"], "tts-cloner");
    answer["id"].as_str().unwrap().to_owned()
}

async fn speak(client: testkit::client::TestClient, voice: &str, model: &str) -> TestReply {
    let body = json!({"input": "Hello there.", "voice": voice, "model": model});
    client.post(speech::PATH, &body).await
}

#[tokio::test]
async fn a_voice_is_learned_for_nothing_and_speaks_by_its_handle() {
    let app = app().await;
    let handle = learn(&app).await;
    assert!(handle.starts_with("vv_") && handle.len() <= 256, "{handle}");
    assert_eq!(app.verify_spent().await.nanos(), 0);
    let sent = app.upstream.received_bodies()[0].as_str().unwrap().to_owned();
    assert!(sent.contains("name=\"audio_sample\"; filename=\"sample.wav\""), "{sent:.500}");
    assert!(app.upstream.heads()[0].starts_with("post /v1/audio/voices "));
    app.upstream.queue_script(speech::mp3());
    let reply = speak(app.admin(), &handle, "tts-cloner").await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(app.upstream.received_bodies()[1]["voice"], "voice_abc");
    assert_eq!(app.verify_spent().await.nanos(), 120_000);
}

#[tokio::test]
async fn a_voice_is_nothing_to_others_to_other_models_and_after_its_time() {
    let app = app().await;
    let handle = learn(&app).await;
    let (_, other) = app.funded_account("other", "5").await;
    let unknown = format!("Voice \"{handle}\" does not exist or has expired.");
    let refused = |reply: TestReply| {
        assert_eq!(reply.status, 400, "{}", reply.text());
        reply.json()["error"].as_str().unwrap().to_owned()
    };
    assert_eq!(refused(speak(other, &handle, "tts-cloner").await), unknown);
    assert!(refused(speak(app.admin(), &handle, "tts-kokoro").await).contains("not supported"));
    app.clock.advance_s(7 * DAY_S);
    assert_eq!(refused(speak(app.admin(), &handle, "tts-cloner").await), unknown);
    assert_eq!(app.upstream.received_bodies().len(), 1);
}

#[tokio::test]
async fn what_cannot_be_learned_is_said_and_free() {
    let app = app().await;
    let send = async |fields: &[(&str, &str)], file: &[u8]| -> Value {
        let reply = app.admin().post_form(PATH, fields, Some(("a", file))).await;
        assert_eq!(reply.status, 400, "{}", reply.text());
        reply.json()
    };
    let told = send(&[("model", "tts-kokoro")], TONE).await;
    let told = told["details"]["model"]["_errors"][0].as_str().unwrap().to_owned();
    assert!(told.starts_with("Model tts-kokoro does not clone voices. Use "), "{told}");
    let flac = include_bytes!("../../../../formats/audio-probe/samples/tone.flac");
    let told = send(&[("model", "tts-cloner")], flac).await;
    assert_eq!(
        told["details"]["file"]["_errors"][0],
        "This model clones voices from wav, mp3 files"
    );
    send(&[("model", "tts-cloner")], b"no sound").await;
    assert!(app.upstream.received_bodies().is_empty());
    assert_eq!(app.verify_spent().await.nanos(), 0);
}
