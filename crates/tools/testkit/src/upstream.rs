//! A scripted upstream on the loopback with OpenAI's protocol, and with faults.
//!
//! Each connection carries one request. Scripts are played in order; when none is left,
//! [`UpstreamScript::hello`] is played.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

/// A running upstream, which stops on drop.
pub struct StubUpstream {
    address: SocketAddr,
    shared: Arc<UpstreamState>,
    _serving: AbortOnDropHandle<()>,
}

struct UpstreamState {
    scripts: Mutex<VecDeque<UpstreamScript>>,
    seen: Mutex<Vec<Value>>,
    heads: Mutex<Vec<String>>,
    /// One permit for each request that has arrived.
    arrivals: Semaphore,
    /// One permit for each request whose client disconnected before the end.
    hangups: Semaphore,
}

/// The response to one request.
#[derive(Debug, Clone)]
pub struct UpstreamScript {
    status: u16,
    headers: Vec<(&'static str, String)>,
    content_type: &'static str,
    pieces: Vec<Vec<u8>>,
    /// Breaks the connection after this many bytes of the body.
    cut: Option<usize>,
    /// Each piece waits for a permit.
    pace: Option<Arc<Semaphore>>,
}

impl StubUpstream {
    pub async fn start() -> StubUpstream {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(UpstreamState {
            scripts: Mutex::default(),
            seen: Mutex::default(),
            heads: Mutex::default(),
            arrivals: Semaphore::new(0),
            hangups: Semaphore::new(0),
        });
        let served = Arc::clone(&shared);
        let serving = async move {
            let connections = TaskTracker::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                connections.spawn(serve_connection(stream, Arc::clone(&served)));
            }
        };
        let _serving = AbortOnDropHandle::new(TaskTracker::new().spawn(serving));
        StubUpstream { address, shared, _serving }
    }

    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Adds a script to the queue.
    pub fn queue_script(&self, script: UpstreamScript) {
        self.shared.scripts.lock().unwrap().push_back(script);
    }

    /// The bodies of all requests so far.
    pub fn received_bodies(&self) -> Vec<Value> {
        self.shared.seen.lock().unwrap().clone()
    }

    /// The request lines and headers of all requests so far, in lower case.
    pub fn heads(&self) -> Vec<String> {
        self.shared.heads.lock().unwrap().clone()
    }

    /// Waits for the next request.
    pub async fn wait_for_request(&self) {
        self.shared.arrivals.acquire().await.unwrap().forget();
    }

    /// Waits until a client disconnects before its response has ended.
    pub async fn wait_for_hangup(&self) {
        self.shared.hangups.acquire().await.unwrap().forget();
    }
}

impl UpstreamScript {
    /// A short answer, whole or as a stream, as the request asks.
    pub fn hello() -> UpstreamScript {
        UpstreamScript::json(
            200,
            &build_completion(
                "Hello there!",
                &json!({"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23}),
            ),
        )
    }

    pub fn json(status: u16, body: &Value) -> UpstreamScript {
        UpstreamScript {
            status,
            headers: Vec::new(),
            content_type: "application/json",
            pieces: vec![body.to_string().into_bytes()],
            cut: None,
            pace: None,
        }
    }

    /// A stream of events, each given by its data.
    pub fn events<I: IntoIterator<Item = S>, S: ToString>(events: I) -> UpstreamScript {
        let event = |data: S| format!("data: {}\n\n", data.to_string()).into_bytes();
        let pieces = events.into_iter().map(event).collect();
        UpstreamScript {
            content_type: "text/event-stream",
            pieces,
            ..UpstreamScript::json(200, &Value::Null)
        }
    }

    /// A stream of these words that ends properly, with or without usage.
    pub fn word_stream(words: &[&str], usage: Option<Value>) -> UpstreamScript {
        let mut events: Vec<String> = words
            .iter()
            .map(|word| build_chunk(&json!({"content": word}), None).to_string())
            .collect();
        events.push(build_chunk(&json!({}), Some("stop")).to_string());
        if let Some(usage) = usage {
            events.push(json!({"id": "up-1", "choices": [], "usage": usage}).to_string());
        }
        events.push("[DONE]".to_owned());
        UpstreamScript::events(events)
    }

    /// Audio in these pieces, with a content length, so that a truncation is detectable.
    pub fn sound(content_type: &'static str, pieces: &[&[u8]]) -> UpstreamScript {
        let pieces: Vec<Vec<u8>> = pieces.iter().map(|piece| piece.to_vec()).collect();
        let length = pieces.concat().len().to_string();
        let script =
            UpstreamScript { content_type, pieces, ..UpstreamScript::json(200, &Value::Null) };
        script.header("content-length", &length)
    }

    /// Bytes that are not a valid event stream.
    pub fn raw(bytes: Vec<u8>) -> UpstreamScript {
        UpstreamScript { pieces: vec![bytes], ..UpstreamScript::events(Vec::<String>::new()) }
    }

    pub fn header(mut self, name: &'static str, value: &str) -> UpstreamScript {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// Breaks the connection after this many bytes of the body.
    pub fn break_after(self, bytes: usize) -> UpstreamScript {
        UpstreamScript { cut: Some(bytes), ..self }
    }

    /// Sends one piece per permit.
    pub fn with_pace(self, pace: &Arc<Semaphore>) -> UpstreamScript {
        UpstreamScript { pace: Some(Arc::clone(pace)), ..self }
    }

    /// The whole body without faults.
    pub fn body(&self) -> Vec<u8> {
        self.pieces.concat()
    }

    pub fn piece_count(&self) -> usize {
        self.pieces.len()
    }

    /// The same answer as a stream.
    fn into_stream(self) -> UpstreamScript {
        let is_answer = self.status == 200 && self.content_type == "application/json";
        let Ok(answer) = serde_json::from_slice::<Value>(&self.body()) else { return self };
        let Some(text) = answer["choices"][0]["message"]["content"].as_str() else { return self };
        if !is_answer {
            return self;
        }
        let (headers, pace) = (self.headers, self.pace);
        UpstreamScript {
            headers,
            pace,
            ..UpstreamScript::word_stream(&[text], Some(answer["usage"].clone()))
        }
    }
}

/// A whole completion.
pub fn build_completion(text: &str, usage: &Value) -> Value {
    json!({
        "id": "up-1", "object": "chat.completion", "created": 1, "model": "upstream-name",
        "system_fingerprint": "fp_1",
        "choices": [{"index": 0, "finish_reason": "stop", "logprobs": null,
            "message": {"role": "assistant", "content": text}}],
        "usage": usage,
    })
}

/// One chunk of a stream.
pub fn build_chunk(delta: &Value, finish_reason: Option<&str>) -> Value {
    json!({
        "id": "up-1", "object": "chat.completion.chunk", "created": 1, "model": "upstream-name",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
    })
}

async fn serve_connection(mut stream: TcpStream, shared: Arc<UpstreamState>) {
    let Some((head, request)) = read_request(&mut stream).await else { return };
    let script = shared.scripts.lock().unwrap().pop_front().unwrap_or_else(UpstreamScript::hello);
    let wants_stream = request["stream"] == true;
    let script = if wants_stream { script.into_stream() } else { script };
    shared.seen.lock().unwrap().push(request);
    shared.heads.lock().unwrap().push(head);
    shared.arrivals.add_permits(1);
    if send_script(&mut stream, script).await.is_none() {
        shared.hangups.add_permits(1);
    }
}

/// The head and the body of a request: JSON, other text, or null without a body.
async fn read_request(stream: &mut TcpStream) -> Option<(String, Value)> {
    let mut bytes = Vec::new();
    loop {
        let head_end = bytes.windows(4).position(|it| it == b"\r\n\r\n").map(|it| it + 4);
        if let Some(head_end) = head_end {
            let head = String::from_utf8_lossy(&bytes[..head_end]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let Some(length) = length else { return Some((head, Value::Null)) };
            let length: usize = length.trim().parse().ok()?;
            if head_end + length <= bytes.len() {
                let body = &bytes[head_end..head_end + length];
                let text = || Value::from(String::from_utf8_lossy(body));
                let body = serde_json::from_slice(body).unwrap_or_else(|_| text());
                return Some((head, body));
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

/// `None` if the client disconnected before the end.
async fn send_script(stream: &mut TcpStream, script: UpstreamScript) -> Option<()> {
    let mut head = format!(
        "HTTP/1.1 {} Scripted\r\ncontent-type: {}\r\nconnection: close\r\n",
        script.status, script.content_type
    );
    for (name, value) in &script.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await.ok()?;
    let mut left = script.cut.unwrap_or(usize::MAX);
    for piece in &script.pieces {
        if let Some(pace) = &script.pace {
            let mut nothing = [0; 1];
            tokio::select! {
                permit = pace.acquire() => permit.unwrap().forget(),
                _ = stream.read(&mut nothing) => return None,
            }
        }
        let sent = &piece[..piece.len().min(left)];
        stream.write_all(sent).await.ok()?;
        left -= sent.len();
        if left == 0 {
            break;
        }
    }
    stream.shutdown().await.ok()
}
