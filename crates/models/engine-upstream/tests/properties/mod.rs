//! Properties that hold for any stream of a provider and any workflow file. Shared by the fuzz
//! targets and the test of their seeds.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use engine::ChatRequest;
use engine_upstream::{
    ComfyWorkflow, ConcurrencyLimits, LocalProcess, OpenAiChatApi, ProviderProtocol, ServerQuirks,
    ThinkingStyle, UpstreamProvider, UpstreamSettings, UpstreamTimeouts, WorkflowSlot,
};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::runtime::{Builder, Runtime};

/// Generous: only the other side is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

/// A provider's stream. The first byte selects the protocol, the next two the chunk boundary, which
/// must make no difference. Returns true if the stream is a complete answer.
pub(crate) fn event_stream(bytes: &[u8]) -> bool {
    let Some((head, events)) = bytes.split_first_chunk::<3>() else { return false };
    let protocol = match head[0] % 4 {
        0 => ProviderProtocol::OpenAi(ServerQuirks::VLLM),
        1 => ProviderProtocol::OpenAi(ServerQuirks::OPENAI),
        3 => ProviderProtocol::OpenAi(ServerQuirks {
            chat_api: OpenAiChatApi::Responses,
            ..ServerQuirks::OPENAI
        }),
        _ => ProviderProtocol::Anthropic {
            thinking: ThinkingStyle::Adaptive,
            caches_system_prompt: false,
        },
    };
    let place = usize::from(u16::from_le_bytes([head[1], head[2]])).min(events.len());
    let (first, second) = events.split_at(place);
    let desk = Desk::open();
    let whole = desk.ask(protocol, &[HEAD, events]);
    let torn = desk.ask(protocol, &[HEAD, first, second]);
    assert_eq!(whole, torn, "it makes no difference where a stream is torn apart");
    whole.last().is_some_and(|last| !last.starts_with("Err"))
}

/// A workflow file and a prompt, separated by the byte 0xff, which occurs in neither. Returns true
/// if the workflow is valid.
pub(crate) fn workflow(bytes: &[u8]) -> bool {
    let (file, prompt) = match bytes.iter().position(|byte| *byte == 0xff) {
        Some(at) => (&bytes[..at], &bytes[at + 1..]),
        None => (bytes, b"a fox {{seed}}".as_slice()),
    };
    let (file, prompt) = (String::from_utf8_lossy(file), String::from_utf8_lossy(prompt));
    let Ok(workflow) = ComfyWorkflow::parse(&file) else { return false };
    let values: Vec<(WorkflowSlot, Value)> = WorkflowSlot::ALL
        .into_iter()
        .filter(|slot| workflow.has_slot(*slot))
        .map(|slot| (slot, if slot == WorkflowSlot::Prompt { json!(prompt) } else { json!(7) }))
        .collect();
    let filled = workflow.fill_slots(&values, WorkflowSlot::name).expect("every slot has a value");
    let graph: Value = serde_json::from_str(&file).expect("it was read before");
    check_filled(&graph, &filled, &prompt);
    true
}

/// Asserts that only slots changed, and that the prompt is only where its slot was.
fn check_filled(graph: &Value, filled: &Value, prompt: &str) {
    match (graph, filled) {
        (Value::Object(before), Value::Object(after)) => {
            assert!(before.keys().eq(after.keys()), "no field comes or goes");
            before.values().zip(after.values()).for_each(|(it, to)| check_filled(it, to, prompt));
        }
        (Value::Array(before), Value::Array(after)) => {
            assert_eq!(before.len(), after.len());
            before.iter().zip(after).for_each(|(it, to)| check_filled(it, to, prompt));
        }
        (Value::String(text), filled) if text.trim() == "{{prompt}}" => assert_eq!(filled, prompt),
        (Value::String(text), filled) if text.contains("{{") => {
            assert!(filled.is_string() || filled == &json!(7), "{text:?} became {filled}");
        }
        (before, after) => assert_eq!(before, after),
    }
}

/// A provider that sends given bytes, once per connection.
struct Desk {
    runtime: Runtime,
    listener: UnixListener,
    socket: PathBuf,
}

/// Counter that gives each instance its own socket.
static DESKS: AtomicU64 = AtomicU64::new(0);

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.socket);
    }
}

impl Desk {
    fn open() -> Desk {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let number = DESKS.fetch_add(1, Ordering::Relaxed);
        let name = format!("events-{}-{number}.sock", std::process::id());
        let socket = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&socket);
        let listener = {
            let _inside = runtime.enter();
            UnixListener::bind(&socket).expect("a socket")
        };
        Desk { runtime, listener, socket }
    }

    fn ask(&self, protocol: ProviderProtocol, pieces: &[&[u8]]) -> Vec<String> {
        let exchange = async {
            let serving = async {
                let (stream, _) = self.listener.accept().await.expect("a connection");
                say(stream, pieces).await;
            };
            tokio::join!(ask(&self.socket, protocol), serving).0
        };
        let limited = async { tokio::time::timeout(PATIENCE, exchange).await };
        self.runtime.block_on(limited).expect("every answer ends")
    }
}

/// The client may disconnect early.
async fn say(mut stream: UnixStream, pieces: &[&[u8]]) {
    let mut request = [0; 4096];
    let _ = stream.read(&mut request).await;
    for piece in pieces {
        if stream.write_all(piece).await.is_err() {
            return;
        }
        for _ in 0..4 {
            tokio::task::yield_now().await;
        }
    }
}

/// All events, and the error at the end if there is one.
async fn ask(socket: &Path, protocol: ProviderProtocol) -> Vec<String> {
    let readiness = Arc::new(|_: &str| Ok(()));
    let settings = UpstreamSettings {
        id: "p".to_owned(),
        protocol,
        base_url: "http://provider/v1".to_owned(),
        api_key: None,
        headers: Vec::new(),
        timeouts: UpstreamTimeouts::default(),
        concurrency: ConcurrencyLimits::default(),
        embedding_inputs_max: 1,
        bills_after_hangup: false,
        local: Some(LocalProcess { socket: socket.to_owned(), readiness }),
    };
    let upstream = UpstreamProvider::new(settings).expect("a provider");
    let engine = upstream.create_chat_engine("m", 1000).expect("a chat engine");
    let request =
        Arc::new(ChatRequest { completion_tokens_max: Some(9), ..ChatRequest::default() });
    match engine.stream_chat(request).await {
        Ok(stream) => stream.map(|event| format!("{event:?}")).collect().await,
        Err(error) => vec![format!("Err({error:?})")],
    }
}
