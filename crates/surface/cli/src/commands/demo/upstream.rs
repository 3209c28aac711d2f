//! The demo's upstream on the loopback address: a chat provider with a fixed response, and a chain
//! node with a fixed block.

use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::thread;

use axum::Json;
use axum::Router;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::runtime::Builder;

use crate::commands::demo::MODELS;
use crate::failure::CommandError;

const ANSWER: &str = "This is an **invented** answer of the demonstration. Name a provider of your \
    own in `tollgate.toml`, or fetch a built-in model on the page *Models*:\n\n\
    ```sh\ntollgate models pull\n```\n";
const CHAIN_ID: &str = "0x2105";
const BLOCK: &str = "0x1c9c380";

/// Serves on a free port until the process ends.
pub(super) fn start_upstream() -> Result<SocketAddr, CommandError> {
    let failed =
        |error: std::io::Error| CommandError::Failed(format!("cannot serve the demo: {error}"));
    let listener = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let serve = async move {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        axum::serve(listener, build_router()).await
    };
    let run = move || {
        if let Err(error) = runtime.block_on(serve) {
            tracing::error!(%error, "the demo's simulated provider has stopped: {error}");
        }
    };
    thread::Builder::new().name("demo-upstream".to_owned()).spawn(run).map_err(failed)?;
    Ok(address)
}

fn build_router() -> Router {
    Router::new()
        .route("/v1/models", get(list_models))
        .route("/v1/chat/completions", post(complete_chat))
        .route("/rpc", post(answer_rpc))
}

async fn list_models() -> Json<Value> {
    let models = MODELS.iter().map(|model| json!({ "id": model.id, "object": "model" }));
    Json(json!({ "object": "list", "data": models.collect::<Vec<_>>() }))
}

async fn complete_chat(Json(body): Json<Value>) -> Response {
    let words: Vec<&str> = ANSWER.split_inclusive(' ').collect();
    let usage = json!({
        "prompt_tokens": 20, "completion_tokens": words.len(), "total_tokens": 20 + words.len(),
    });
    let frame = |object: &str, choice: Value| {
        json!({
            "id": "demo", "object": object, "created": 0, "model": body["model"],
            "choices": [choice],
        })
    };
    if body["stream"] != true {
        let message = json!({ "role": "assistant", "content": ANSWER });
        let choice = json!({ "index": 0, "message": message, "finish_reason": "stop" });
        let mut answer = frame("chat.completion", choice);
        answer["usage"] = usage;
        return Json(answer).into_response();
    }
    let chunk = |delta: Value, finish: Option<&str>| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        frame("chat.completion.chunk", choice)
    };
    let mut chunks: Vec<Value> =
        words.iter().map(|word| chunk(json!({ "content": word }), None)).collect();
    let mut last = chunk(json!({}), Some("stop"));
    last["usage"] = usage;
    chunks.push(last);
    let mut events: Vec<String> = chunks.iter().map(Value::to_string).collect();
    events.push("[DONE]".to_owned());
    let events = events.into_iter().map(|data| Ok::<_, Infallible>(Event::default().data(data)));
    Sse::new(stream::iter(events)).into_response()
}

async fn answer_rpc(Json(body): Json<Value>) -> Json<Value> {
    Json(match body {
        Value::Array(calls) => Value::Array(calls.iter().map(answer_call).collect()),
        call => answer_call(&call),
    })
}

fn answer_call(call: &Value) -> Value {
    let method = call["method"].as_str().unwrap_or_default();
    let result = match method {
        "eth_chainId" => json!(CHAIN_ID),
        "eth_blockNumber" => json!(BLOCK),
        "eth_gasPrice" | "eth_maxPriorityFeePerGas" => json!("0xf4240"),
        "eth_getBalance" | "eth_getTransactionCount" => json!("0x0"),
        "eth_getLogs" => json!([]),
        "eth_getBlockByNumber" => json!({
            "number": BLOCK, "hash": format!("0x{}", "d".repeat(64)), "timestamp": "0x691d0000",
            "transactions": [], "baseFeePerGas": "0xf4240",
        }),
        _ => {
            let error = json!({ "code": -32601, "message": "not part of the demonstration" });
            return json!({ "jsonrpc": "2.0", "id": call["id"], "error": error });
        }
    };
    json!({ "jsonrpc": "2.0", "id": call["id"], "result": result })
}
