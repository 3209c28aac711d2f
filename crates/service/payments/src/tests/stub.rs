//! A node or a facilitator with scripted answers.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::EvmNodes;

/// Returns the result for a method (or a path) and its parameters (or a body); an object with
/// `refused` is an error.
pub(super) type AnswerScript = Arc<dyn Fn(&str, &Value) -> Value + Send + Sync>;

/// The chain that a stub serves.
pub(super) const CHAIN_ID: u64 = 8453;

/// Starts a node of Base that answers everything else by `answers`. Returns its URL. It ends with
/// the runtime.
pub(super) async fn stub(answers: AnswerScript) -> String {
    stub_of("0x2105", answers).await
}

/// Starts a node of the chain `chain_id`.
pub(super) async fn stub_of(chain_id: &'static str, answers: AnswerScript) -> String {
    let told: AnswerScript = Arc::new(move |method, params| match method {
        "eth_chainId" => json!(chain_id),
        _ => answers(method, params),
    });
    start(told).await
}

/// The nodes setting for one stub.
pub(super) fn nodes(url: &str) -> EvmNodes<'_> {
    EvmNodes { url, also: &[], chain_id: CHAIN_ID, confirmations: 1 }
}

async fn start(answers: AnswerScript) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let tasks = tokio_util::task::TaskTracker::new();
    tasks.clone().spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tasks.spawn(serve(stream, Arc::clone(&answers)));
        }
    });
    url
}

async fn serve(stream: TcpStream, answers: AnswerScript) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    while let Some((path, body)) = read(&mut stream).await? {
        let answer = match body.get("jsonrpc") {
            Some(_) => {
                let result = answers(body["method"].as_str().unwrap(), &body["params"]);
                match result.get("refused") {
                    Some(error) => json!({ "jsonrpc": "2.0", "id": body["id"], "error": error }),
                    None => json!({ "jsonrpc": "2.0", "id": body["id"], "result": result }),
                }
            }
            None => answers(&path, &body),
        };
        let answer = answer.to_string();
        let length = answer.len();
        let reply = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{answer}"
        );
        stream.write_all(reply.as_bytes()).await?;
    }
    Ok(())
}

/// The path and the body of the next request; None when the connection ends.
async fn read(stream: &mut BufReader<TcpStream>) -> std::io::Result<Option<(String, Value)>> {
    let (mut path, mut length) = (None, 0);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().unwrap();
        }
        path = path.or_else(|| line.split(' ').nth(1).map(str::to_owned));
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let body = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).unwrap() };
    Ok(path.map(|path| (path, body)))
}
