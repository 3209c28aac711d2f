//! Tests of models with region restrictions.

use expect_test::expect;
use serde_json::json;
use testkit::app::TestApp;
use testkit::client::TestClient;
use testkit::upstream::UpstreamScript;

use crate::chat::{PATH, ask};
use crate::{speech, transcriptions};

/// A service behind a proxy that sends the country. `kimi-k3` is restricted in North Korea.
async fn start(trusted: &str) -> TestApp {
    let server =
        format!("[server]\ntrusted_proxies = [{trusted}]\ncountry_header = \"CF-IPCountry\"\n");
    TestApp::with_changed_fixture(|fixture| format!("{fixture}\n{server}")).await
}

fn from(app: &TestApp, country: &str) -> TestClient {
    app.admin().with("cf-ipcountry", country)
}

#[tokio::test]
async fn a_restricted_model_is_refused_before_any_work() {
    let app = start("\"127.0.0.1\"").await;
    let caller = from(&app, "kp");
    let reply = caller.post(PATH, &ask("kimi-k3", &json!({}))).await;
    reply
        .expect(expect![[r#"403 {"error":"Model kimi-k3 is not available in your region (KP)"}"#]]);
    for (path, body) in [
        ("/responses", json!({"model": "kimi-k3", "input": "Hi"})),
        ("/completions", json!({"model": "kimi-k3", "prompt": "Hi"})),
    ] {
        assert_eq!(caller.post(path, &body).await.status, 403, "{path}");
    }
    assert!(app.upstream.received_bodies().is_empty());
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn vectors_speech_and_transcripts_are_restricted_alike() {
    let trusted =
        "[server]\ntrusted_proxies = [\"127.0.0.1\"]\ncountry_header = \"CF-IPCountry\"\n";
    let app = TestApp::with_changed_fixture(|fixture| {
        let mut fixture = format!("{fixture}\n{trusted}");
        for id in ["text-embedding-bge-m3", "tts-kokoro", "parakeet"] {
            let entry = format!("id = \"{id}\"\n");
            let restricted = format!("{entry}region_restrictions = [\"KP\"]\n");
            assert!(fixture.contains(&entry), "{id}");
            fixture = fixture.replace(&entry, &restricted);
        }
        fixture
    })
    .await;
    let vector = json!({"object": "embedding", "index": 0, "embedding": vec![0.5; 1024]});
    for country in ["KP", "KR"] {
        let caller = from(&app, country);
        let expected = if country == "KP" { 403 } else { 200 };
        if expected == 200 {
            app.upstream.queue_script(UpstreamScript::json(200, &json!({"data": [vector]})));
        }
        let body = json!({"model": "text-embedding-bge-m3", "input": "Hi"});
        assert_eq!(caller.post("/embeddings", &body).await.status, expected, "{country}");
        if expected == 200 {
            app.upstream.queue_script(speech::mp3());
        }
        let body = json!({"model": "tts-kokoro", "input": "Hi"});
        assert_eq!(caller.post(speech::PATH, &body).await.status, expected, "{country}");
        if expected == 200 {
            app.upstream.queue_script(transcriptions::hello());
        }
        let file = Some(("tone.wav", transcriptions::TONE));
        let reply = caller.post_form(transcriptions::PATH, &[("model", "parakeet")], file).await;
        assert_eq!(reply.status, expected, "{country}");
        if country == "KP" {
            assert!(app.upstream.received_bodies().is_empty());
            assert_eq!(app.verify_spent().await.nanos(), 0);
        }
    }
    assert_eq!(app.upstream.received_bodies().len(), 3);
}

#[tokio::test]
async fn other_countries_and_unknown_ones_are_served() {
    let app = start("\"127.0.0.1\"").await;
    let body = ask("kimi-k3", &json!({}));
    for country in ["KR", "T1", "XX", "", "KPX"] {
        assert_eq!(from(&app, country).post(PATH, &body).await.status, 200, "{country}");
    }
    assert_eq!(app.admin().post(PATH, &body).await.status, 200);
    let other = ask("qwen3:4b", &json!({}));
    assert_eq!(from(&app, "KP").post(PATH, &other).await.status, 200, "a model for everybody");
}

#[tokio::test]
async fn a_fallback_answers_where_the_model_may_not() {
    let app = start("\"127.0.0.1\"").await;
    let body = ask("kimi-k3", &json!({"fallbacks": [{"model": "qwen3:4b"}]}));
    assert_eq!(from(&app, "KP").post(PATH, &body).await.ok_json()["model"], "qwen3:4b");
    let body = ask("qwen3:4b", &json!({"fallbacks": [{"model": "kimi-k3"}]}));
    assert_eq!(from(&app, "KP").post(PATH, &body).await.ok_json()["model"], "qwen3:4b");
}

#[tokio::test]
async fn nobody_but_a_trusted_proxy_says_where_a_caller_is() {
    let app = start("").await;
    let reply = from(&app, "KP").post(PATH, &ask("kimi-k3", &json!({}))).await;
    assert_eq!(reply.status, 200, "whoever connects directly may write any header");
}
