//! Tests the local engine over its Unix socket.

use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::thread;

use engine::{
    EmbeddingInput, EmbeddingRequest, EngineError, MediaProgress, MediaRequest, MediaStatus,
};

use super::queued::{clip, fetched, http, json};
use super::stub::{StubAction, settings};
use crate::upstream::MediaWork;
use crate::{LocalProcess, ProviderProtocol, ServerQuirks, UpstreamProvider, UpstreamSettings};

const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
                      content-length: 73\r\n\r\n\
                      {\"data\":[{\"index\":0,\"embedding\":[1.0,2.0]}],\"usage\":{\"prompt_tokens\":3}}\n";

fn upstream(socket: &std::path::Path) -> UpstreamProvider {
    let readiness = Arc::new(|_: &str| Ok(()));
    let local = Some(LocalProcess { socket: socket.to_owned(), readiness });
    let settings = settings("http://engine/v1", ProviderProtocol::OpenAi(ServerQuirks::VLLM));
    UpstreamProvider::new(UpstreamSettings { local, ..settings }).unwrap()
}

fn request() -> Arc<EmbeddingRequest> {
    let input = EmbeddingInput::Texts(vec!["hello".to_owned()]);
    Arc::new(EmbeddingRequest { input, dimensions: None })
}

#[tokio::test]
async fn an_engine_is_reached_through_its_socket() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let listener = UnixListener::bind(&socket).unwrap();
    let seen = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = vec![0; 4096];
        let count = stream.read(&mut request).unwrap();
        stream.write_all(ANSWER.as_bytes()).unwrap();
        String::from_utf8_lossy(&request[..count]).into_owned()
    });
    let answer =
        upstream(&socket).create_embedding_engine("m").unwrap().embed(request()).await.unwrap();
    assert_eq!(answer.vectors, [[1.0, 2.0]]);
    assert!(seen.join().unwrap().starts_with("POST /v1/embeddings HTTP/1.1"));
}

#[tokio::test]
async fn an_engine_that_is_down_is_unreachable() {
    let folder = tempfile::tempdir().unwrap();
    let engine = upstream(&folder.path().join("s")).create_embedding_engine("m").unwrap();
    let error = engine.embed(request()).await.unwrap_err();
    assert!(matches!(error, EngineError::Unreachable { .. }), "{error}");
}

/// Answers each connection in turn, and returns the first line of each request.
fn serve(
    socket: &std::path::Path,
    answers: Vec<Vec<StubAction>>,
) -> thread::JoinHandle<Vec<String>> {
    let listener = UnixListener::bind(socket).unwrap();
    thread::spawn(move || {
        let answer = |steps: Vec<StubAction>| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = vec![0; 4096];
            let count = stream.read(&mut request).unwrap();
            for step in steps {
                let StubAction::Say(bytes) = step else { panic!("it only speaks") };
                stream.write_all(&bytes).unwrap();
            }
            let text = String::from_utf8_lossy(&request[..count]).into_owned();
            text.lines().next().unwrap_or_default().to_owned()
        };
        answers.into_iter().map(answer).collect()
    })
}

#[tokio::test]
async fn a_video_is_ordered_by_name_asked_about_fetched_and_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let state = |status: &str| json(&format!(r#"{{"id":"job-1","status":"{status}"}}"#));
    let answers = vec![
        state("queued"),
        state("in_progress"),
        state("completed"),
        http("200 OK", "video/mp4", "moving pictures"),
        state("cancelled"),
        http("404 Not Found", "application/json", "{}"),
    ];
    let seen = serve(&socket, answers);
    let engine =
        upstream(&socket).create_media_engine("m", MediaWork::Video, None).unwrap().unwrap();
    assert!(engine.has_idempotent_submit(), "an order can be repeated");
    let ticket = engine.submit("job-1", &MediaRequest::Video(clip())).await.unwrap();
    assert_eq!(
        engine.poll_status(&ticket).await,
        Ok(MediaStatus::Running(MediaProgress::default()))
    );
    assert_eq!(engine.poll_status(&ticket).await, Ok(MediaStatus::Done));
    assert_eq!(fetched(engine.as_ref(), &ticket).await, b"moving pictures");
    assert_eq!(engine.cancel(&ticket).await, Ok(true));
    assert_eq!(engine.poll_status(&ticket).await, Ok(MediaStatus::Lost), "it was started again");
    let expected = [
        "POST /v1/videos HTTP/1.1",
        "GET /v1/videos/job-1 HTTP/1.1",
        "GET /v1/videos/job-1 HTTP/1.1",
        "GET /v1/videos/job-1/content HTTP/1.1",
        "POST /v1/videos/job-1/cancel HTTP/1.1",
        "GET /v1/videos/job-1 HTTP/1.1",
    ];
    assert_eq!(seen.join().unwrap(), expected);
}

#[tokio::test]
async fn a_video_waits_for_its_weights_and_music_is_not_made_there() {
    let folder = tempfile::tempdir().unwrap();
    let not_ready = || EngineError::NotReady {
        message: "soon".to_owned(),
        retry_after: std::time::Duration::from_secs(5),
    };
    let readiness = Arc::new(move |_: &str| Err(not_ready()));
    let local = Some(LocalProcess { socket: folder.path().join("s"), readiness });
    let settings = settings("http://engine/v1", ProviderProtocol::OpenAi(ServerQuirks::VLLM));
    let upstream = UpstreamProvider::new(UpstreamSettings { local, ..settings }).unwrap();
    let engine = upstream.create_media_engine("m", MediaWork::Video, None).unwrap().unwrap();
    let refused = engine.submit("job-1", &MediaRequest::Video(clip())).await;
    assert_eq!(refused, Err(not_ready()));
    assert!(upstream.create_media_engine("m", MediaWork::Music, None).unwrap().is_none());
}

#[tokio::test]
async fn only_the_built_in_engine_counts_the_tokens_of_a_chat() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let seen =
        serve(&socket, vec![json(r#"{"prompt_tokens":17}"#), json(r#"{"prompt_tokens":null}"#)]);
    let count = async |quirks: ServerQuirks| {
        let readiness = Arc::new(|_: &str| Ok(()));
        let local = Some(LocalProcess { socket: socket.clone(), readiness });
        let settings = settings("http://engine/v1", ProviderProtocol::OpenAi(quirks));
        let upstream = UpstreamProvider::new(UpstreamSettings { local, ..settings }).unwrap();
        let engine = upstream.create_chat_engine("m", 100).unwrap();
        engine.count_prompt(Arc::default()).await
    };
    assert_eq!(count(ServerQuirks::VLLM).await, None, "it is not asked");
    assert_eq!(count(ServerQuirks::BUILT_IN).await, Some(17));
    assert_eq!(count(ServerQuirks::BUILT_IN).await, None, "the model is not loaded");
    assert_eq!(seen.join().unwrap(), ["POST /v1/chat/tokens HTTP/1.1"; 2]);
    assert_eq!(count(ServerQuirks::BUILT_IN).await, None, "the engine is gone");
}
