//! Tests of queued music: quotes, the queue, results and costs.

use std::sync::atomic::Ordering;

use engine::{ContentRefusal, EngineError, MediaRequest, MediaStatus};
use futures_util::future::join_all;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::{TestClient, TestReply};
use testkit::media_engine::small_sound;
use testkit::wallet::TestWallet;

pub(crate) const PROMPT: &str = "calm piano in the rain";

pub(crate) fn song() -> Value {
    json!({"model": "ace-step-15", "prompt": PROMPT, "duration_seconds": 60})
}

/// Queues a song, and returns the job's id.
pub(crate) async fn queue(client: &TestClient) -> String {
    let queued = client.post("/audio/queue", &song()).await.ok_json();
    assert_eq!(queued["status"], "QUEUED");
    assert_eq!(queued["model"], "ace-step-15");
    queued["queue_id"].as_str().unwrap().to_owned()
}

pub(crate) async fn retrieve(client: &TestClient, id: &str) -> TestReply {
    client.post("/audio/retrieve", &json!({"model": "ace-step-15", "queue_id": id})).await
}

async fn complete(client: &TestClient, id: &str) -> TestReply {
    client.post("/audio/complete", &json!({"model": "ace-step-15", "queue_id": id})).await
}

async fn quote(client: &TestClient, body: &Value) -> TestReply {
    client.post("/audio/quote", body).await
}

#[tokio::test]
async fn anyone_is_told_what_a_piece_costs() {
    let app = TestApp::start().await;
    let anyone = app.anonymous();
    let of = async |body: Value| quote(&anyone, &body).await.ok_json()["quote"].as_f64().unwrap();
    assert_eq!(of(json!({"model": "ace-step-15", "duration_seconds": 60})).await, 0.03);
    assert_eq!(of(json!({"model": "ace-step-15", "duration_seconds": "60"})).await, 0.03);
    assert_eq!(of(json!({"model": "ace-step-15"})).await, 0.04, "the default length is 90");
    assert_eq!(of(json!({"model": "sound-effects", "duration_seconds": 20})).await, 0.04);
    for bad in [
        json!({"model": "ace-step-15", "duration_seconds": 61}),
        json!({"model": "ace-step-15", "duration_seconds": "0"}),
        json!({"model": "ace-step-15", "duration_seconds": 0}),
        json!({"model": "ace-step-15", "more": 1}),
        json!({"duration_seconds": 60}),
    ] {
        assert_eq!(quote(&anyone, &bad).await.status, 400, "{bad}");
    }
    assert_eq!(quote(&anyone, &json!({"model": "nothing-like-it"})).await.status, 404);
}

#[tokio::test]
async fn a_song_is_held_for_when_it_is_queued_and_charged_when_it_is_made() {
    let app = TestApp::start().await;
    let id = queue(&app.admin()).await;
    assert_eq!(app.app.ledger.balances(app.owner()).usd.to_string(), "9.97");
    let waiting = retrieve(&app.admin(), &id).await.ok_json();
    assert_eq!(waiting["status"], "PROCESSING");
    assert_eq!(waiting["average_execution_time"], 60_000);
    app.clock.advance_s(3);
    assert_eq!(retrieve(&app.admin(), &id).await.ok_json()["execution_duration"], 3000);
    app.run_jobs().await;
    let song = retrieve(&app.admin(), &id).await;
    assert_eq!((song.status, song.header("content-type")), (200, "audio/wav"));
    assert_eq!(song.body, small_sound());
    assert_eq!(song.header("content-disposition"), format!("attachment; filename=\"{id}.wav\""));
    assert_eq!(
        retrieve(&app.admin(), &id).await.body,
        small_sound(),
        "as often as it is asked for"
    );
    assert_eq!(app.verify_spent().await.to_string(), "0.03");
    let usage = app.admin().get("/billing/usage").await.ok_json();
    assert_eq!(usage["data"][0]["sku"], "ace-step-15-music-generation");
    let MediaRequest::Music(asked) = app.maker.last_request() else {
        panic!("music was asked for")
    };
    assert_eq!((asked.prompt.as_str(), asked.duration_s), (PROMPT, Some(60)));
    assert_eq!(asked.format.as_deref(), Some("mp3"));
}

#[tokio::test]
async fn a_completed_song_is_gone() {
    let app = TestApp::start().await;
    let id = queue(&app.admin()).await;
    assert_eq!(
        complete(&app.admin(), &id).await.ok_json(),
        json!({"success": false}),
        "not made yet"
    );
    app.run_jobs().await;
    assert_eq!(complete(&app.admin(), &id).await.ok_json(), json!({"success": true}));
    assert_eq!(complete(&app.admin(), &id).await.ok_json(), json!({"success": true}));
    assert_eq!(retrieve(&app.admin(), &id).await.status, 404);
    assert_eq!(app.verify_spent().await.to_string(), "0.03");
}

#[tokio::test]
async fn a_song_is_deleted_after_it_was_sent_where_that_is_asked_for() {
    let app = TestApp::start().await;
    let id = queue(&app.admin()).await;
    app.run_jobs().await;
    let body = json!({
        "model": "ace-step-15", "queue_id": id, "delete_media_on_completion": true,
    });
    // A client that disconnects in the middle has not received the result.
    let opened = app.admin().open("/audio/retrieve", &body).await;
    drop(opened);
    app.settle_tasks().await;
    let song = app.admin().post("/audio/retrieve", &body).await;
    assert_eq!(song.body, small_sound());
    app.settle_tasks().await;
    assert_eq!(retrieve(&app.admin(), &id).await.status, 404);
}

#[tokio::test]
async fn a_song_of_somebody_else_is_one_that_never_was() {
    let app = TestApp::start().await;
    let id = queue(&app.admin()).await;
    app.run_jobs().await;
    let (_, other) = app.funded_account("other", "1").await;
    let never_was = "01936f2e-0000-7000-8000-000000000000";
    let expected = retrieve(&app.admin(), never_was).await;
    assert_eq!(
        (expected.status, expected.json()),
        (400, json!({"error": "Request ID is invalid."}))
    );
    for (client, id) in [(&other, id.as_str()), (&app.admin(), "nonsense")] {
        let reply = retrieve(client, id).await;
        assert_eq!((reply.status, reply.body), (400, expected.body.clone()));
        let reply = complete(client, id).await;
        assert_eq!((reply.status, reply.body), (400, expected.body.clone()));
    }
    let as_video = json!({"model": "wan-2-7", "queue_id": id});
    assert_eq!(app.admin().post("/video/retrieve", &as_video).await.status, 400);
    let other_model = json!({"model": "sound-effects", "queue_id": id});
    assert_eq!(app.admin().post("/audio/retrieve", &other_model).await.status, 400);
    assert_eq!(retrieve(&app.admin(), &id).await.status, 200, "it is still there for its owner");
}

#[tokio::test]
async fn a_refused_prompt_is_refunded_and_told_the_same_ever_after() {
    let app = TestApp::start().await;
    app.maker.set_status(Ok(MediaStatus::Refused(ContentRefusal {
        message: "No violence.".into(),
        suggested_prompt: Some("a calm walk".into()),
        recommended_model: None,
    })));
    let id = queue(&app.admin()).await;
    app.run_jobs().await;
    for _ in 0..2 {
        let reply = retrieve(&app.admin(), &id).await;
        assert_eq!(reply.status, 422);
        let told = json!({"error": "No violence.", "suggested_prompt": "a calm walk"});
        assert_eq!(reply.json(), told);
    }
    assert_eq!(complete(&app.admin(), &id).await.ok_json(), json!({"success": true}));
    assert_eq!(app.verify_spent().await.to_string(), "0");
}

#[tokio::test]
async fn a_failed_song_is_refunded_and_says_so() {
    let app = TestApp::start().await;
    app.maker.set_status(Ok(MediaStatus::Failed { message: "Out of memory.".into() }));
    let id = queue(&app.admin()).await;
    for _ in 0..3 {
        app.run_jobs().await;
        app.clock.advance_s(300);
    }
    let reply = retrieve(&app.admin(), &id).await;
    assert_eq!(reply.status, 500);
    assert_eq!(reply.json()["credits_refunded"], true);
    assert_eq!(reply.json()["code"], "GENERATION_FAILED");
    assert_eq!(app.verify_spent().await.to_string(), "0");
}

#[tokio::test]
async fn every_option_that_a_model_does_not_have_is_named_at_once() {
    let app = TestApp::start().await;
    let body = json!({
        "model": "sound-effects", "prompt": "wind", "lyrics_prompt": "la", "lyrics_optimizer": true,
        "force_instrumental": true, "voice": "thunder", "language_code": "en", "speed": 1.5,
        "duration_seconds": 21,
    });
    let reply = app.admin().post("/audio/queue", &body).await;
    assert_eq!(reply.status, 400);
    let details = &reply.json()["details"];
    for field in [
        "lyrics_prompt",
        "lyrics_optimizer",
        "force_instrumental",
        "voice",
        "language_code",
        "speed",
        "duration_seconds",
    ] {
        assert!(details[field]["_errors"][0].is_string(), "{field}: {details}");
    }
    let lyrics = json!({
        "model": "ace-step-15", "prompt": PROMPT, "lyrics_prompt": "la", "lyrics_optimizer": true,
    });
    let reply = app.admin().post("/audio/queue", &lyrics).await;
    assert_eq!(reply.status, 400);
    for bad in [
        json!({"model": "ace-step-15", "prompt": "short"}),
        json!({"model": "ace-step-15", "prompt": "x".repeat(1001)}),
        json!({"model": "ace-step-15", "prompt": PROMPT, "lyrics_prompt": "l".repeat(4097)}),
        json!({"model": "ace-step-15", "prompt": PROMPT, "speed": 0.3}),
        json!({"model": "ace-step-15", "prompt": PROMPT, "language_code": "english"}),
        json!({"model": "ace-step-15", "prompt": PROMPT, "loop": true}),
        json!({"model": "ace-step-15", "prompt": ""}),
    ] {
        assert_eq!(app.admin().post("/audio/queue", &bad).await.status, 400, "{bad}");
    }
    assert_eq!(app.verify_spent().await.to_string(), "0");
    assert_eq!(app.maker.submits.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn whoever_cannot_pay_is_told_before_anything_is_queued() {
    let app = TestApp::start().await;
    let poor = app.another_account("poor").await;
    let reply = poor.post("/audio/queue", &song()).await;
    assert_eq!(reply.status, 402);
    assert_eq!(reply.json()["code"], "INSUFFICIENT_BALANCE");
    app.run_jobs().await;
    assert_eq!(app.maker.submits.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn the_same_key_queues_once_however_often_it_is_sent() {
    let app = TestApp::start().await;
    let client = app.admin().with("idempotency-key", "k");
    let song = song();
    let replies = join_all((0..20).map(|_| client.post("/audio/queue", &song))).await;
    let first = replies[0].ok_json();
    assert!(replies.iter().all(|reply| reply.ok_json() == first));
    let fresh = replies.iter().filter(|it| it.header("idempotent-replayed") != "true").count();
    assert_eq!(fresh, 1);
    let later = client.post("/audio/queue", &song).await;
    assert_eq!(later.header("idempotent-replayed"), "true");
    let another = json!({"model": "ace-step-15", "prompt": "another one"});
    assert_eq!(client.post("/audio/queue", &another).await.status, 400);
    app.run_jobs().await;
    assert_eq!(app.maker.submits.load(Ordering::SeqCst), 1);
    assert_eq!(app.verify_spent().await.to_string(), "0.03");
}

#[tokio::test]
async fn a_job_outlives_the_process() {
    let mut app = TestApp::start().await;
    app.maker.set_status(Err(EngineError::Unreachable { cause: "down".into() }));
    let id = queue(&app.admin()).await;
    app.restart().await;
    assert_eq!(app.app.ledger.balances(app.owner()).usd.to_string(), "9.97");
    app.maker.set_status(Ok(MediaStatus::Done));
    app.run_jobs().await;
    assert_eq!(retrieve(&app.admin(), &id).await.body, small_sound());
    assert_eq!(app.verify_spent().await.to_string(), "0.03");
}

#[tokio::test]
async fn a_wallet_that_cannot_pay_for_another_song_collects_its_first() {
    let app = TestApp::start().await;
    let wallet = TestWallet::evm(1);
    app.fund(&wallet, "0.12").await;
    let queued = app.signed_in(&wallet).post("/audio/queue", &song()).await.ok_json();
    let id = queued["queue_id"].as_str().unwrap();
    app.run_jobs().await;
    assert_eq!(app.signed_in(&wallet).post("/audio/queue", &song()).await.status, 402);
    assert_eq!(retrieve(&app.signed_in(&wallet), id).await.body, small_sound());
}

#[tokio::test]
async fn times_are_measured_once_twenty_songs_were_made() {
    let app = TestApp::start().await;
    for _ in 0..20 {
        queue(&app.admin()).await;
        app.run_jobs().await;
    }
    let id = queue(&app.admin()).await;
    assert_eq!(retrieve(&app.admin(), &id).await.ok_json()["average_execution_time"], 0);
    app.run_jobs().await;
}

#[tokio::test]
async fn a_queued_piece_tells_what_is_left() {
    let app = TestApp::start().await;
    let reply = app.admin().post("/audio/queue", &song()).await;
    assert_eq!((reply.status, reply.header("x-balance-remaining")), (200, "9.97"));
}

#[tokio::test]
async fn a_language_code_is_one_of_iso_639_1() {
    let app = TestApp::start().await;
    let with = |code: &str| {
        let mut body = song();
        body["language_code"] = code.into();
        body
    };
    for code in ["zz", "xx", "EN", "eng", ""] {
        let reply = app.admin().post("/audio/queue", &with(code)).await;
        assert_eq!(reply.status, 400, "{code}: {}", reply.text());
        assert!(reply.json()["details"]["language_code"].is_object(), "{}", reply.text());
    }
    assert_eq!(app.verify_spent().await.to_string(), "0");
    assert_eq!(app.admin().post("/audio/queue", &with("de")).await.status, 200);
}
