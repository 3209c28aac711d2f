//! A scripted node: a bare TCP server that can also misbehave.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// The node's reaction to a request.
pub(super) enum StubReaction {
    /// Answers with this status and body.
    Reply(u16, String),
    /// Answers correctly, after a delay.
    Late(Duration, String),
    /// Redirects the client.
    Redirect(String),
    /// Does not answer, and keeps the connection open.
    Stall,
    /// Closes the connection without an answer.
    HangUp,
    /// Announces a longer body than it sends.
    CutShort,
    /// Sends a body that never ends.
    Endless,
}

/// A running node; it stops when dropped.
pub(super) struct StubChainNode {
    pub(super) url: String,
    asked: Arc<Mutex<Vec<String>>>,
    _tasks: JoinSet<()>,
}

impl StubChainNode {
    /// Starts a node that follows the script, which gets the body of a request and the number of
    /// earlier ones.
    ///
    /// The first query of its chain is answered with the right one, and not counted.
    pub(super) async fn start(
        script: impl Fn(&str, usize) -> StubReaction + Send + Sync + 'static,
    ) -> StubChainNode {
        StubChainNode::of_chain(r#"{"jsonrpc":"2.0","id":0,"result":"0x1"}"#, script).await
    }

    /// Starts a node that answers `told` when its chain is queried.
    pub(super) async fn of_chain(
        told: &'static str,
        script: impl Fn(&str, usize) -> StubReaction + Send + Sync + 'static,
    ) -> StubChainNode {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/secret-key", listener.local_addr().expect("bound"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (script, seen) = (Arc::new(script), Arc::clone(&asked));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (script, seen) = (Arc::clone(&script), Arc::clone(&seen));
                connections.spawn(async move { serve(stream, told, &*script, &seen).await });
            }
        });
        StubChainNode { url, asked, _tasks: tasks }
    }

    /// A node that answers every call with its method as the result.
    pub(super) async fn good() -> StubChainNode {
        StubChainNode::start(|body, _| StubReaction::Reply(200, results(body))).await
    }

    /// A node that answers every request alike.
    pub(super) async fn always(status: u16, body: &'static str) -> StubChainNode {
        StubChainNode::start(move |_, _| StubReaction::Reply(status, body.to_owned())).await
    }

    /// The methods of each request it received, such as `eth_call+eth_chainId`.
    pub(super) fn asked(&self) -> Vec<String> {
        let bodies = self.asked.lock().expect("no test panics while it holds this");
        bodies.iter().map(|it| methods(it).join("+")).collect()
    }
}

/// An address where nothing listens.
pub(super) async fn unreachable() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    format!("http://{}/", listener.local_addr().expect("bound"))
}

/// The response of a good node.
pub(super) fn results(body: &str) -> String {
    let answer = |it: &Value| json!({"jsonrpc": "2.0", "id": it["id"], "result": it["method"]});
    match serde_json::from_str(body).expect("we send JSON") {
        Value::Array(calls) => Value::Array(calls.iter().map(answer).collect()).to_string(),
        call => answer(&call).to_string(),
    }
}

fn methods(body: &str) -> Vec<String> {
    let name = |it: &Value| it["method"].as_str().unwrap_or_default().to_owned();
    match serde_json::from_str(body).expect("we send JSON") {
        Value::Array(calls) => calls.iter().map(name).collect(),
        call => vec![name(&call)],
    }
}

async fn serve(
    mut stream: TcpStream,
    told: &str,
    script: &(dyn Fn(&str, usize) -> StubReaction + Send + Sync),
    asked: &Mutex<Vec<String>>,
) {
    while let Some(body) = read_request(&mut stream).await {
        if body.contains(r#""id":0,"#) {
            let status = if told.is_empty() { 401 } else { 200 };
            let _ = stream.write_all(reply(status, told).as_bytes()).await;
            continue;
        }
        let before = {
            let mut asked = asked.lock().expect("no test panics while it holds this");
            asked.push(body.clone());
            asked.len() - 1
        };
        let text = match script(&body, before) {
            StubReaction::Reply(status, body) => reply(status, &body),
            StubReaction::Late(delay, body) => {
                tokio::time::sleep(delay).await;
                reply(200, &body)
            }
            StubReaction::Redirect(url) => {
                format!("HTTP/1.1 307 -\r\nlocation: {url}\r\ncontent-length: 0\r\n\r\n")
            }
            StubReaction::Stall => std::future::pending().await,
            StubReaction::HangUp => return,
            StubReaction::CutShort => {
                let head = "HTTP/1.1 200 -\r\ncontent-length: 1000\r\n\r\n{\"id\":1,";
                let _ = stream.write_all(head.as_bytes()).await;
                return;
            }
            StubReaction::Endless => {
                let head = "HTTP/1.1 200 -\r\nconnection: close\r\n\r\n[";
                let mut is_open = stream.write_all(head.as_bytes()).await.is_ok();
                while is_open {
                    is_open = stream.write_all(&[b' '; 4096]).await.is_ok();
                }
                return;
            }
        };
        if stream.write_all(text.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// A response with a content type other than JSON, which must not matter.
fn reply(status: u16, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} -\r\ncontent-type: text/html\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// The body of the next request; `None` when the connection ends.
async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).ok()?.to_ascii_lowercase();
    let length = head.lines().find_map(|it| it.strip_prefix("content-length: "))?;
    let mut body = vec![0; length.parse().ok()?];
    stream.read_exact(&mut body).await.ok()?;
    String::from_utf8(body).ok()
}
