//! Tests of queued videos: quotes, the queue, links, and policy refusals.

use axum::body::Body;
use axum::http::Method;
use engine::{ContentRefusal, MediaRequest, MediaStatus};
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::{TestClient, TestReply};
use testkit::media_engine::small_video;

pub(crate) fn clip() -> Value {
    json!({
        "model": "wan-2-7", "prompt": "a boat", "duration": "5s", "aspect_ratio": "16:9",
    })
}

pub(crate) async fn queue(client: &TestClient) -> (String, Option<String>) {
    let queued = client.post("/video/queue", &clip()).await.ok_json();
    let link = queued["download_url"].as_str().map(path_of);
    (queued["queue_id"].as_str().unwrap().to_owned(), link)
}

/// The path below the base path, for the test client.
fn path_of(link: &str) -> String {
    link.strip_prefix("http://testhost/api/v1").unwrap().to_owned()
}

async fn retrieve(client: &TestClient, id: &str) -> TestReply {
    client.post("/video/retrieve", &json!({"model": "wan-2-7", "queue_id": id})).await
}

async fn open() -> TestApp {
    // Videos of models that are not private are fetched with `/video/retrieve`.
    TestApp::with_changed_fixture(|toml| {
        toml.replace("id = \"wan-2-7\"\n", "id = \"wan-2-7\"\nprivacy = \"anonymized\"\n")
    })
    .await
}

pub(crate) async fn private() -> TestApp {
    TestApp::with_changed_fixture(|toml| {
        toml.replace("id = \"wan-2-7\"\n", "id = \"wan-2-7\"\nprivacy = \"private\"\n")
    })
    .await
}

#[tokio::test]
async fn anyone_is_told_what_a_video_costs() {
    let app = TestApp::start().await;
    let of = async |body: Value| app.anonymous().post("/video/quote", &body).await;
    let price = async |body: Value| of(body).await.ok_json()["quote"].as_f64().unwrap();
    assert_eq!(price(json!({"model": "wan-2-7", "duration": "5s"})).await, 0.8);
    assert_eq!(price(json!({"model": "wan-2-7", "duration": "5s", "audio": false})).await, 0.55);
    let large = json!({"model": "wan-2-7", "duration": "10s", "resolution": "1080p"});
    assert_eq!(price(large).await, 2.05);
    // Fields without an effect on the price are ignored.
    let more = json!({"model": "wan-2-7", "duration": "5s", "upscale_factor": 2, "x": 1});
    assert_eq!(price(more).await, 0.8);
    for bad in [
        json!({"model": "wan-2-7", "duration": "6s"}),
        json!({"model": "wan-2-7", "duration": "1h"}),
        json!({"model": "wan-2-7", "duration": "5s", "resolution": "4k"}),
        json!({"model": "wan-2-7"}),
    ] {
        assert_eq!(of(bad.clone()).await.status, 400, "{bad}");
    }
}

#[tokio::test]
async fn a_video_is_retrieved_when_it_is_done() {
    let app = open().await;
    let (id, link) = queue(&app.admin()).await;
    assert_eq!(link, None);
    assert_eq!(app.app.ledger.balances(app.owner()).usd.to_string(), "9.2");
    let waiting = retrieve(&app.admin(), &id).await.ok_json();
    assert_eq!(waiting["status"], "PROCESSING");
    assert_eq!(waiting["average_execution_time"], 180_000);
    app.run_jobs().await;
    let video = retrieve(&app.admin(), &id).await;
    assert_eq!((video.status, video.header("content-type")), (200, "video/mp4"));
    assert_eq!(video.body, small_video());
    let MediaRequest::Video(asked) = app.maker.last_request() else {
        panic!("a video was asked for")
    };
    assert_eq!((asked.duration_s, asked.resolution.as_deref()), (Some(5), Some("720p")));
    assert_eq!(asked.has_audio, Some(true));
    let complete = json!({"model": "wan-2-7", "queue_id": id});
    assert_eq!(app.admin().post("/video/complete", &complete).await.ok_json()["success"], true);
    assert_eq!(retrieve(&app.admin(), &id).await.status, 404);
    assert_eq!(app.verify_spent().await.to_string(), "0.8");
}

#[tokio::test]
async fn a_private_video_is_fetched_from_its_link_without_a_credential() {
    let app = private().await;
    let (id, link) = queue(&app.admin()).await;
    let link = link.unwrap();
    assert_eq!(app.anonymous().get(&link).await.status, 404, "not made yet");
    app.run_jobs().await;
    let told = retrieve(&app.admin(), &id).await.ok_json();
    assert_eq!(told["status"], "COMPLETED");
    let video = app.anonymous().get(&link).await;
    assert_eq!((video.status, video.header("content-type")), (200, "video/mp4"));
    assert_eq!(video.header("accept-ranges"), "bytes");
    assert_eq!(video.body, small_video());
    assert_eq!(app.verify_spent().await.to_string(), "0.8");
}

#[tokio::test]
async fn a_part_of_a_video_can_be_asked_for() {
    let app = private().await;
    let (_, link) = queue(&app.admin()).await;
    let link = link.unwrap();
    app.run_jobs().await;
    let whole = small_video();
    let part = async |range: &str| app.anonymous().with("range", range).get(&link).await;
    let first = part("bytes=0-9").await;
    assert_eq!((first.status, first.body.as_ref()), (206, &whole[..10]));
    assert_eq!(first.header("content-range"), format!("bytes 0-9/{}", whole.len()));
    let last = part("bytes=-5").await;
    assert_eq!((last.status, last.body.as_ref()), (206, &whole[whole.len() - 5..]));
    let beyond = part("bytes=99999-").await;
    assert_eq!(beyond.status, 416);
    assert_eq!(beyond.header("content-range"), format!("bytes */{}", whole.len()));
    assert_eq!(part("bytes=0-1,4-5").await.status, 200);
}

#[tokio::test]
async fn a_link_opens_nothing_once_it_is_revoked_over_or_forged() {
    let app = private().await;
    let (_, link) = queue(&app.admin()).await;
    let link = link.unwrap();
    app.run_jobs().await;
    let (address, signature) = link.split_once("&signature=").unwrap();
    let forged = format!("{address}&signature={}", "0".repeat(signature.len()));
    assert_eq!(app.anonymous().get(&forged).await.status, 404);
    assert_eq!(app.anonymous().delete(&forged).await.status, 404);
    assert_eq!(app.anonymous().get(&link).await.status, 200);
    assert_eq!(app.anonymous().delete(&link).await.ok_json(), json!({"success": true}));
    assert_eq!(app.anonymous().get(&link).await.status, 410);
    app.clock.advance_s(24 * 60 * 60);
    assert_eq!(app.anonymous().get(&link).await.status, 410);
}

#[tokio::test]
async fn a_completed_private_video_is_gone_from_its_link() {
    let app = private().await;
    let (id, link) = queue(&app.admin()).await;
    app.run_jobs().await;
    let complete = json!({"model": "wan-2-7", "queue_id": id});
    assert_eq!(app.admin().post("/video/complete", &complete).await.ok_json()["success"], true);
    assert_eq!(app.anonymous().get(&link.unwrap()).await.status, 410);
}

#[tokio::test]
async fn a_video_against_the_policy_is_refunded_with_another_model_named() {
    let app = TestApp::with_changed_fixture(|toml| {
        let start = toml.find("[[model]]\nid = \"wan-2-7\"").unwrap();
        let end = toml[start + 1..].find("\n[[").map_or(toml.len(), |at| start + 1 + at);
        let second = toml[start..end].replace("wan-2-7", "other-video");
        format!("{toml}\n{}", second.replace("traits = [\"default\"]\n", ""))
    })
    .await;
    let refusal = ContentRefusal { message: "Not that.".into(), ..ContentRefusal::default() };
    app.maker.set_status(Ok(MediaStatus::Refused(refusal)));
    let (id, _) = queue(&app.admin()).await;
    app.run_jobs().await;
    for _ in 0..2 {
        let reply = retrieve(&app.admin(), &id).await;
        assert_eq!(reply.status, 422);
        let told = json!({"error": {
            "message": "Not that.", "type": "provider_content_policy", "credits_refunded": true,
            "recommended_model": "other-video",
        }});
        assert_eq!(reply.json(), told);
    }
    assert_eq!(app.verify_spent().await.to_string(), "0");
}

#[tokio::test]
async fn what_a_model_cannot_use_is_refused_before_it_costs_anything() {
    let app = TestApp::start().await;
    let with = |more: Value| {
        let mut body = clip();
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    for (field, more) in [
        ("aspect_ratio", json!({"aspect_ratio": "1:1"})),
        ("resolution", json!({"resolution": "4k"})),
        ("duration", json!({"duration": "30s"})),
        ("upscale_factor", json!({"upscale_factor": 2})),
        ("image_url", json!({"image_url": "https://example.com/a.png"})),
        ("video_url", json!({"video_url": "https://example.com/a.mp4"})),
        ("audio_url", json!({"audio_url": "https://example.com/a.mp3"})),
        ("reference_audio_urls", json!({"reference_audio_urls": ["https://example.com/a.mp3"]})),
        ("prompt", json!({"prompt": "x".repeat(2501)})),
        (
            "consents",
            json!({"consents": {"seedance": {
                "confirmed_terms_and_privacy": true, "confirmed_legal_right": false,
                "confirmed_screening_acknowledged": true,
            }}}),
        ),
    ] {
        let reply = app.admin().post("/video/queue", &with(more)).await;
        assert_eq!(reply.status, 400, "{field}: {}", reply.text());
        assert!(reply.json()["details"][field].is_object(), "{field}: {}", reply.text());
    }
    let inward = with(json!({"reference_image_urls": ["http://127.0.0.1/a.png"]}));
    let reply = app.admin().post("/video/queue", &inward).await;
    assert_eq!(reply.status, 400, "{}", reply.text());
    assert_eq!(app.verify_spent().await.to_string(), "0");
}

#[tokio::test]
async fn a_video_without_a_ratio_has_the_first_that_its_model_lists() {
    let app = TestApp::start().await;
    let mut unshaped = clip();
    unshaped.as_object_mut().unwrap().remove("aspect_ratio");
    let reply = app.admin().post("/video/queue", &unshaped).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.header("x-balance-remaining"), "9.2", "what it may cost is held");
    app.run_jobs().await;
    let MediaRequest::Video(asked) = app.maker.last_request() else {
        panic!("a video was asked for")
    };
    assert_eq!(asked.aspect_ratio.as_deref(), Some("16:9"));
}

#[tokio::test]
async fn keyframes_documents_and_a_task_reach_an_engine_that_takes_them() {
    let app = TestApp::with_changed_fixture(|toml| {
        toml.replace("starts_from = \"text-to-video\"", "starts_from = \"video\"")
    })
    .await;
    let with = |more: Value| {
        let mut body = clip();
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let keyframe =
        |frame: u32| json!({"image_url": "https://example.com/a.png", "frame_index": frame});
    let page = "https://example.com/brief.pdf";
    for (field, more) in [
        ("keyframes", json!({"keyframes": [keyframe(121)]})),
        ("keyframes", json!({"keyframes": [keyframe(3), keyframe(3)]})),
        ("keyframes", json!({"keyframes": [{"image_url": "ftp://x", "frame_index": 0}]})),
        ("keyframes", json!({"keyframes": [{"image_url": "https://example.com/a.png"}]})),
        ("keyframes", json!({"keyframes": vec![keyframe(0); 11]})),
        ("reference_document_urls", json!({"reference_document_urls": [page, page]})),
        ("reference_document_urls", json!({"reference_document_urls": ["http://127.0.0.1/a"]})),
        ("omni_reference_task_type", json!({"omni_reference_task_type": "edit"})),
        ("omni_reference_task_type", json!({"omni_reference_task_type": "paint"})),
    ] {
        let reply = app.admin().post("/video/queue", &with(more)).await;
        assert_eq!(reply.status, 400, "{field}: {}", reply.text());
        assert!(reply.json()["details"][field].is_object(), "{field}: {}", reply.text());
        app.clock.advance_s(31);
    }
    assert_eq!(app.verify_spent().await.to_string(), "0");
    let more = json!({
        "keyframes": [keyframe(0), keyframe(120)], "reference_document_urls": [page],
        "omni_reference_task_type": "extension",
    });
    assert_eq!(app.admin().post("/video/queue", &with(more)).await.status, 200);
    app.run_jobs().await;
    let MediaRequest::Video(asked) = app.maker.last_request() else {
        panic!("a video was asked for")
    };
    let frames: Vec<u32> = asked.keyframes.iter().map(|it| it.frame).collect();
    assert_eq!(frames, [0, 120]);
    assert_eq!(asked.reference_documents, [page]);
    assert_eq!(asked.reference_task.as_deref(), Some("extend"));
}

#[tokio::test]
async fn a_head_request_tells_of_a_link_without_its_bytes() {
    let app = private().await;
    let (_, link) = queue(&app.admin()).await;
    app.run_jobs().await;
    let path = format!("/api/v1{}", link.unwrap());
    let reply = app.anonymous().send_raw(Method::HEAD, &path, Body::empty()).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("content-length"), small_video().len().to_string());
    assert!(reply.body.is_empty());
}
