//! An engine of this machine, over its socket.

use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::thread;

use engine::{EmbeddingInput, EmbeddingRequest, EngineError};

use super::stub::settings;
use crate::{LocalProcess, Protocol, Quirks, Upstream, UpstreamSettings};

const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
                      content-length: 73\r\n\r\n\
                      {\"data\":[{\"index\":0,\"embedding\":[1.0,2.0]}],\"usage\":{\"prompt_tokens\":3}}\n";

fn upstream(socket: &std::path::Path) -> Upstream {
    let readiness = Arc::new(|_: &str| Ok(()));
    let local = Some(LocalProcess { socket: socket.to_owned(), readiness });
    let settings = settings("http://engine/v1", Protocol::OpenAi(Quirks::VLLM));
    Upstream::new(UpstreamSettings { local, ..settings }).unwrap()
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
    let answer = upstream(&socket).embeddings("m").unwrap().embed(request()).await.unwrap();
    assert_eq!(answer.vectors, [[1.0, 2.0]]);
    assert!(seen.join().unwrap().starts_with("POST /v1/embeddings HTTP/1.1"));
}

#[tokio::test]
async fn an_engine_that_is_down_is_unreachable() {
    let folder = tempfile::tempdir().unwrap();
    let engine = upstream(&folder.path().join("s")).embeddings("m").unwrap();
    let error = engine.embed(request()).await.unwrap_err();
    assert!(matches!(error, EngineError::Unreachable { .. }), "{error}");
}
