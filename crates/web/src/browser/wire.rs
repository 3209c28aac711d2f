//! Speaks the Chrome DevTools Protocol over one socket: calls with answers, and events by page.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, client_async_with_config};
use tokio_util::task::TaskTracker;

use super::BrowserError;

/// Calls that wait to be sent.
const CALLS_WAITING_MAX: usize = 64;
/// Events of one page that wait to be looked at. A page that makes more has no more of them heard.
const EVENTS_WAITING_MAX: usize = 1_024;
/// A page's HTML is the longest, and is cut before it is sent.
const MESSAGE_BYTES_MAX: usize = 48 * 1024 * 1024;
const ANSWER_TIME_MAX: Duration = Duration::from_secs(10);

pub(super) struct Wire {
    shared: Arc<Shared>,
    outgoing: mpsc::Sender<Message>,
    next: AtomicU64,
}

#[derive(Default)]
struct Shared {
    answers: Mutex<HashMap<u64, oneshot::Sender<Value>>>,
    listeners: Mutex<HashMap<String, mpsc::Sender<Value>>>,
}

impl Wire {
    pub(super) async fn open(
        stream: TcpStream,
        address: &str,
        tasks: &TaskTracker,
    ) -> Result<Wire, BrowserError> {
        let config = WebSocketConfig::default()
            .max_message_size(Some(MESSAGE_BYTES_MAX))
            .max_frame_size(Some(MESSAGE_BYTES_MAX));
        let opened = client_async_with_config(address, stream, Some(config)).await;
        let (socket, _) = opened.map_err(|error| BrowserError::NotStarted(error.to_string()))?;
        let (outgoing, calls) = mpsc::channel(CALLS_WAITING_MAX);
        let shared = Arc::<Shared>::default();
        tasks.spawn(carry(socket, calls, Arc::clone(&shared)));
        Ok(Wire { shared, outgoing, next: AtomicU64::new(1) })
    }

    pub(super) fn is_open(&self) -> bool {
        !self.outgoing.is_closed()
    }

    /// Calls a method, of a page or of the browser itself, and waits for its answer.
    pub(super) async fn call(
        &self,
        page: Option<&str>,
        method: &str,
        parameters: Value,
    ) -> Result<Value, BrowserError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        lock(&self.shared.answers).insert(id, sender);
        let mut call = json!({"id": id, "method": method, "params": parameters});
        if let Some(page) = page {
            call["sessionId"] = json!(page);
        }
        let sent = self.outgoing.send(Message::text(call.to_string())).await;
        let answered = match sent {
            Ok(()) => timeout(ANSWER_TIME_MAX, answer).await.map_err(|_| BrowserError::TimedOut),
            Err(_) => Err(BrowserError::Gone),
        };
        lock(&self.shared.answers).remove(&id);
        let answer = answered?.map_err(|_| BrowserError::Gone)?;
        if let Some(error) = answer.get("error") {
            return Err(BrowserError::Refused(format!("{method}: {error}")));
        }
        Ok(answer.get("result").cloned().unwrap_or_default())
    }

    /// The events of a page from now on.
    pub(super) fn listen(&self, page: &str) -> mpsc::Receiver<Value> {
        let (sender, events) = mpsc::channel(EVENTS_WAITING_MAX);
        lock(&self.shared.listeners).insert(page.to_owned(), sender);
        events
    }

    pub(super) fn forget(&self, page: &str) {
        lock(&self.shared.listeners).remove(page);
    }
}

/// Until either side closes.
async fn carry(
    socket: WebSocketStream<TcpStream>,
    mut calls: mpsc::Receiver<Message>,
    shared: Arc<Shared>,
) {
    let (mut sending, mut receiving) = socket.split();
    loop {
        tokio::select! {
            call = calls.recv() => {
                let Some(call) = call else { break };
                if sending.send(call).await.is_err() {
                    break;
                }
            }
            message = receiving.next() => {
                match message {
                    Some(Ok(Message::Text(text))) => deliver(&shared, text.as_str()),
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => break,
                }
            }
        }
    }
    // Waiting tasks see that their channels closed.
    lock(&shared.answers).clear();
    lock(&shared.listeners).clear();
}

fn deliver(shared: &Shared, text: &str) {
    let Ok(message) = serde_json::from_str::<Value>(text) else { return };
    if let Some(id) = message.get("id").and_then(Value::as_u64) {
        if let Some(waiting) = lock(&shared.answers).remove(&id) {
            let _ = waiting.send(message);
        }
        return;
    }
    let page = message.get("sessionId").and_then(Value::as_str).unwrap_or_default();
    let listener = lock(&shared.listeners).get(page).cloned();
    if let Some(listener) = listener {
        let _ = listener.try_send(message);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
