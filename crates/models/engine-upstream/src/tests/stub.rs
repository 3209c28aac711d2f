//! An upstream on a real socket that follows a test's script.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::{
    ConcurrencyLimits, ProviderProtocol, ServerQuirks, UpstreamProvider, UpstreamSettings,
    UpstreamTimeouts,
};

/// Only failing tests wait this long.
const PATIENCE: Duration = Duration::from_secs(10);

/// An action of the stub after it has read the request.
#[derive(Clone)]
pub(super) enum StubAction {
    Say(Vec<u8>),
    /// Sends nothing until the client disconnects.
    AwaitClose,
    /// Ends the connection with a reset.
    Reset,
    /// Reads the next request from the same connection.
    NextRequest,
}

type StubScript = dyn Fn(&str) -> Vec<StubAction> + Send + Sync;

/// An event that the stub recorded.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum StubRecord {
    Request(String),
    /// The client closed the connection while the stub was waiting for that.
    Close,
}

pub(super) struct StubServer {
    pub(super) address: SocketAddr,
    seen: Receiver<StubRecord>,
    connections: Arc<AtomicUsize>,
}

impl StubServer {
    /// Answers every request with the actions that `script` returns for its text.
    pub(super) fn start(
        script: impl Fn(&str) -> Vec<StubAction> + Send + Sync + 'static,
    ) -> StubServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, seen) = channel();
        let script: Arc<StubScript> = Arc::new(script);
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                counted.fetch_add(1, Ordering::SeqCst);
                let (script, sender) = (Arc::clone(&script), sender.clone());
                thread::spawn(move || serve(stream, &*script, &sender));
            }
        });
        StubServer { address, seen, connections }
    }

    pub(super) fn saying(text: impl Into<Vec<u8>>) -> StubServer {
        let text = text.into();
        StubServer::start(move |_| vec![StubAction::Say(text.clone())])
    }

    pub(super) fn next_seen(&self) -> StubRecord {
        self.seen.recv_timeout(PATIENCE).expect("the stub sees something in time")
    }

    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub(super) fn requests_seen(&self) -> usize {
        self.seen.try_iter().filter(|it| matches!(it, StubRecord::Request(_))).count()
    }

    pub(super) fn upstream(&self) -> UpstreamProvider {
        self.upstream_with(ProviderProtocol::OpenAi(ServerQuirks::VLLM), patient())
    }

    pub(super) fn upstream_with(
        &self,
        protocol: ProviderProtocol,
        timeouts: UpstreamTimeouts,
    ) -> UpstreamProvider {
        let settings = settings(&format!("http://{}/v1/", self.address), protocol);
        UpstreamProvider::new(UpstreamSettings { timeouts, ..settings }).unwrap()
    }
}

pub(super) fn settings(base_url: &str, protocol: ProviderProtocol) -> UpstreamSettings {
    UpstreamSettings {
        id: "stub".to_owned(),
        protocol,
        base_url: base_url.to_owned(),
        api_key: Some("sk-secret".to_owned()),
        headers: vec![("x-extra".to_owned(), "yes".to_owned())],
        timeouts: patient(),
        concurrency: ConcurrencyLimits::default(),
        embedding_inputs_max: 2,
        bills_after_hangup: false,
        local: None,
    }
}

/// Longer than any test, so that only the timeout under test can expire.
pub(super) fn patient() -> UpstreamTimeouts {
    UpstreamTimeouts {
        connect: PATIENCE,
        answer: PATIENCE,
        first_event: PATIENCE,
        next_event: PATIENCE,
    }
}

/// A response with a content length.
pub(super) fn json(status: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

/// A stream that ends with the connection, so that a truncation looks like a normal end.
pub(super) fn sse(events: &[&str]) -> Vec<u8> {
    let mut text = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n".to_owned();
    for event in events {
        text.push_str(&format!("data: {event}\n\n"));
    }
    text.into_bytes()
}

/// A chunked stream, whose truncation a client can detect.
pub(super) fn chunked_sse(events: &[&str]) -> Vec<u8> {
    let mut text = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                    transfer-encoding: chunked\r\n\r\n"
        .to_owned();
    for event in events {
        let event = format!("data: {event}\n\n");
        text.push_str(&format!("{:x}\r\n{event}\r\n", event.len()));
    }
    text.into_bytes()
}

fn serve(mut stream: TcpStream, script: &StubScript, seen: &Sender<StubRecord>) {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let Some(request) = read_request(&mut stream) else { return };
    let steps = script(&request);
    // The test, and its channel with it, may already have ended.
    let _ = seen.send(StubRecord::Request(request));
    for step in steps {
        match step {
            StubAction::Say(bytes) if stream.write_all(&bytes).is_err() => return,
            StubAction::Say(_) => {}
            StubAction::AwaitClose => {
                let is_closed = matches!(stream.read(&mut [0; 1]), Ok(0));
                if is_closed {
                    let _ = seen.send(StubRecord::Close);
                }
            }
            StubAction::Reset => {
                let socket = tokio::net::TcpSocket::from_std_stream(stream);
                socket.set_zero_linger().unwrap();
                return;
            }
            StubAction::NextRequest => return serve(stream, script, seen),
        }
    }
}

/// The complete request as text; `None` if the client disconnects early.
fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let lower = head.to_lowercase();
            let length = lower.split_once("content-length: ").map_or("0", |it| it.1);
            let length: usize = length.lines().next()?.trim().parse().ok()?;
            if length <= body.len() {
                return Some(text);
            }
        }
        let count = stream.read(&mut buffer).ok().filter(|count| 0 < *count)?;
        bytes.extend_from_slice(&buffer[..count]);
    }
}
