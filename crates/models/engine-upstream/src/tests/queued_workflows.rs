//! Music and videos of ComfyUI: complete exchanges with a server, from the workflow to the result.
//!
//! - `golden/queued/workflow.<name>.json` → `<request>.comfyui.json`: a workflow as submitted.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use engine::{EngineError, MediaEngine, MediaProgress, MediaRequest, MediaStatus, MediaTicket};
use expect_test::expect_file;
use serde_json::Value;

use super::queued::{
    clip, engine_with, fetched, folder, http, instrumental, json, moved_picture, song,
};
use super::stub::{StubAction, StubRecord, StubServer};
use crate::upstream::MediaWork;
use crate::{ComfyWorkflow, MediaRoutes, ProviderProtocol};

fn workflow(name: &str) -> ComfyWorkflow {
    let text = fs::read_to_string(folder().join(format!("workflow.{name}.json"))).unwrap();
    ComfyWorkflow::parse(&text).unwrap()
}

fn engine_of(stub: &StubServer, work: MediaWork, name: &str) -> MediaRoutes {
    engine_with(stub, ProviderProtocol::ComfyUi, work, Some(&workflow(name)))
}

const VIDEO_DONE: &str = include_str!("../../golden/queued/comfyui-done.json");
const SONG_DONE: &str = r#"{"1":{"outputs":{"59":{"audio":[{"filename":"a b.mp3","subfolder":"audio","type":"output"}]}},"status":{"status_str":"success"}}}"#;

/// A server with one job, which is in its history or still in its queue.
fn server(history: &'static str, queue: &'static str) -> StubServer {
    StubServer::start(move |request| {
        let line = request.lines().next().unwrap_or_default();
        let path = line.split(' ').take(2).collect::<Vec<_>>().join(" ");
        match path.as_str() {
            "POST /v1/prompt" => json(r#"{"prompt_id":"1","number":4,"node_errors":{}}"#),
            "POST /v1/upload/image" => {
                json(r#"{"name":"tollgate (2).png","subfolder":"","type":"input"}"#)
            }
            "GET /v1/history/1" => json(history),
            "GET /v1/queue" => json(queue),
            "POST /v1/queue" | "POST /v1/interrupt" => json("{}"),
            "GET /v1/view?filename=tollgate%5F00001%5F%2Emp4&subfolder=video&type=output" => {
                http("200 OK", "video/mp4", "moving pictures")
            }
            "GET /v1/view?filename=a%20b%2Emp3&subfolder=audio&type=output" => {
                http("200 OK", "audio/mpeg", "ID3 sound")
            }
            other => panic!("{other}"),
        }
    })
}

const IDLE: &str = r#"{"queue_running":[],"queue_pending":[]}"#;
const RUNNING: &str = r#"{"queue_running":[[4,"1",{},{},[]]],"queue_pending":[]}"#;
const WAITING: &str = r#"{"queue_running":[[3,"0",{},{},[]]],"queue_pending":[[5,"2",{},{},[]],[4,"1",{},{},[]],[1,"9",{},{},[]]]}"#;

fn next_request(stub: &StubServer) -> String {
    match stub.next_seen() {
        StubRecord::Request(request) => request,
        StubRecord::Close => panic!("a request was expected"),
    }
}

/// Compares the body of the last submission with a golden file.
#[track_caller]
fn check_handed_in(stub: &StubServer, name: &str) {
    let request = loop {
        let request = next_request(stub);
        if request.starts_with("POST /v1/prompt ") {
            break request;
        }
    };
    let (_, body) = request.split_once("\r\n\r\n").unwrap();
    let body: Value = serde_json::from_str(body).unwrap();
    let text = serde_json::to_string_pretty(&body).unwrap() + "\n";
    expect_file![folder().join(format!("{name}.comfyui.json"))].assert_eq(&text);
}

#[tokio::test]
async fn a_video_is_handed_in_asked_about_and_fetched() {
    let stub = server(VIDEO_DONE, IDLE);
    let engine = engine_of(&stub, MediaWork::Video, "video");
    let ticket = engine.submit("x", &MediaRequest::Video(clip())).await.unwrap();
    assert!(ticket.0.contains("\"1\""), "the ticket is the server's own name: {ticket:?}");
    check_handed_in(&stub, "clip");
    assert_eq!(engine.poll_status(&ticket).await, Ok(MediaStatus::Done));
    assert_eq!(fetched(&engine, &ticket).await, b"moving pictures");
}

#[tokio::test]
async fn a_picture_is_uploaded_before_it_is_moved() {
    let stub = server(VIDEO_DONE, IDLE);
    let engine = engine_of(&stub, MediaWork::Video, "motion");
    engine.submit("x", &MediaRequest::Video(moved_picture())).await.unwrap();
    check_handed_in(&stub, "moved-picture");
    let without = engine.submit("x", &MediaRequest::Video(clip())).await;
    assert_eq!(without, Err(EngineError::FieldMissing { field: "image_url" }));
    let engine = engine_of(&stub, MediaWork::Video, "video");
    let with = engine.submit("x", &MediaRequest::Video(moved_picture())).await;
    assert!(matches!(with, Err(EngineError::Rejected { .. })), "it takes no picture");
}

#[tokio::test]
async fn music_is_made_with_words_and_without() {
    let stub = server(SONG_DONE, IDLE);
    let engine = engine_of(&stub, MediaWork::Music, "song");
    let words = engine::MusicRequest { language: None, ..song() };
    let ticket = engine.submit("x", &MediaRequest::Music(words)).await.unwrap();
    check_handed_in(&stub, "song");
    engine.submit("x", &MediaRequest::Music(instrumental())).await.unwrap();
    check_handed_in(&stub, "instrumental");
    assert_eq!(engine.poll_status(&ticket).await, Ok(MediaStatus::Done));
    assert_eq!(fetched(&engine, &ticket).await, b"ID3 sound");
    let foreign = engine.submit("x", &MediaRequest::Music(song())).await;
    assert!(matches!(foreign, Err(EngineError::Rejected { .. })), "no word for a language");
}

#[tokio::test]
async fn a_job_waits_runs_or_is_lost() {
    let running = |ahead| MediaStatus::Running(MediaProgress { percent: None, ahead: Some(ahead) });
    for (queue, expected) in
        [(WAITING, running(2)), (RUNNING, running(0)), (IDLE, MediaStatus::Lost)]
    {
        let stub = server("{}", queue);
        let engine = engine_of(&stub, MediaWork::Video, "video");
        let ticket = engine.submit("x", &MediaRequest::Video(clip())).await.unwrap();
        assert_eq!(engine.poll_status(&ticket).await, Ok(expected));
    }
}

#[tokio::test]
async fn a_job_that_ends_between_two_questions_is_not_lost() {
    let asked = AtomicUsize::new(0);
    let stub = StubServer::start(move |request| -> Vec<StubAction> {
        match request.lines().next().unwrap_or_default() {
            line if line.starts_with("GET /v1/history/1 ") => {
                let is_first = asked.fetch_add(1, Ordering::SeqCst) == 0;
                json(if is_first { "{}" } else { VIDEO_DONE })
            }
            _ => json(IDLE),
        }
    });
    let engine = engine_of(&stub, MediaWork::Video, "video");
    let ticket = MediaTicket(r#"{"provider":"p","ticket":"1"}"#.to_owned());
    assert_eq!(engine.poll_status(&ticket).await, Ok(MediaStatus::Done));
}

#[tokio::test]
async fn a_job_is_taken_out_of_the_queue_or_interrupted_when_it_runs() {
    for (queue, is_interrupted) in [(WAITING, false), (RUNNING, true)] {
        let stub = server("{}", queue);
        let engine = engine_of(&stub, MediaWork::Video, "video");
        let ticket = MediaTicket(r#"{"provider":"p","ticket":"1"}"#.to_owned());
        assert_eq!(engine.cancel(&ticket).await, Ok(true));
        let removal = next_request(&stub);
        assert!(removal.starts_with("POST /v1/queue "), "{removal}");
        assert!(removal.ends_with(r#"{"delete":["1"]}"#), "{removal}");
        assert!(next_request(&stub).starts_with("GET /v1/queue "));
        if is_interrupted {
            let interrupt = next_request(&stub);
            assert!(interrupt.starts_with("POST /v1/interrupt "), "{interrupt}");
            assert!(interrupt.ends_with(r#"{"prompt_id":"1"}"#), "{interrupt}");
        }
        assert_eq!(stub.requests_seen(), 0, "another job is left alone");
    }
}

#[test]
fn a_model_without_a_workflow_is_told_at_the_start() {
    let stub = server("{}", IDLE);
    let upstream =
        stub.upstream_with(ProviderProtocol::ComfyUi, crate::UpstreamTimeouts::default());
    assert!(upstream.create_media_engine("m", MediaWork::Video, None).is_err());
}
