//! Chrome DevTools Protocol over the pipes of a keeper: calls with responses, and events by page.

mod messages;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::task::TaskTracker;

pub(super) use self::messages::ANSWER_BYTES_MAX;
use self::messages::MessageReader;
use super::BrowserError;

/// Calls that may wait to be sent.
const CALLS_WAITING_MAX: usize = 64;
/// Buffered events of one page; further events are dropped.
const EVENTS_WAITING_MAX: usize = 256;
/// The events that are handled; a page sends many others.
const EVENTS: [&str; 2] = ["Page.loadEventFired", "Fetch.requestPaused"];
/// Time limit for a keeper to kill its browser's processes.
const END_TIME_MAX: Duration = Duration::from_secs(10);
/// Bytes of the last error output of a keeper and its browser that are logged.
const LAST_WORDS_BYTES_MAX: usize = 1024;

pub(super) struct DevToolsConnection {
    shared: Arc<DevToolsState>,
    outgoing: mpsc::Sender<Vec<u8>>,
    deadline: watch::Sender<Instant>,
    next: AtomicU64,
}

#[derive(Default)]
struct DevToolsState {
    answers: Mutex<HashMap<u64, oneshot::Sender<Value>>>,
    listeners: Mutex<HashMap<String, mpsc::Sender<Value>>>,
    /// The last lines of the keeper's standard error.
    last_words: Mutex<Vec<u8>>,
}

impl DevToolsConnection {
    /// Starts a supervisor task that ends the browser when the current deadline passes, even if the
    /// request that set the deadline was dropped.
    pub(super) fn open(
        mut child: Child,
        time_max: Duration,
        tasks: &TaskTracker,
    ) -> DevToolsConnection {
        let (outgoing, calls) = mpsc::channel(CALLS_WAITING_MAX);
        let (deadline, deadlines) = watch::channel(Instant::now() + time_max);
        let shared = Arc::<DevToolsState>::default();
        if let (Some(input), Some(output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        {
            let pipes = KeeperPipes { input, output, errors };
            tasks.spawn(forward_messages(child, pipes, calls, deadlines, Arc::clone(&shared)));
        }
        DevToolsConnection { shared, outgoing, deadline, next: AtomicU64::new(1) }
    }

    pub(super) fn is_open(&self) -> bool {
        !self.outgoing.is_closed()
    }

    /// The browser is ended at this time, unless a later call sets another deadline.
    pub(super) fn set_deadline(&self, deadline: Instant) {
        self.deadline.send_replace(deadline);
    }

    /// Calls a method of a page or of the browser, and waits for the response, at most until the
    /// deadline.
    pub(super) async fn call(
        &self,
        page: Option<&str>,
        method: &str,
        parameters: Value,
    ) -> Result<Value, BrowserError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        lock_mutex(&self.shared.answers).insert(id, sender);
        let mut call = json!({"id": id, "method": method, "params": parameters});
        if let Some(page) = page {
            call["sessionId"] = json!(page);
        }
        let mut call = call.to_string().into_bytes();
        call.push(0);
        let sent = self.outgoing.send(call).await.map_err(|_| BrowserError::Gone);
        let answered = match sent {
            Ok(()) => answer.await.map_err(|_| BrowserError::Gone),
            Err(gone) => Err(gone),
        };
        lock_mutex(&self.shared.answers).remove(&id);
        let answer = answered?;
        if let Some(error) = answer.get("error") {
            return Err(BrowserError::Refused(format!("{method}: {error}")));
        }
        Ok(answer.get("result").cloned().unwrap_or_default())
    }

    /// Subscribes to the events of a page.
    pub(super) fn subscribe(&self, page: &str) -> mpsc::Receiver<Value> {
        let (sender, events) = mpsc::channel(EVENTS_WAITING_MAX);
        lock_mutex(&self.shared.listeners).insert(page.to_owned(), sender);
        events
    }

    pub(super) fn unsubscribe(&self, page: &str) {
        lock_mutex(&self.shared.listeners).remove(page);
    }

    /// The last error output of a browser that has ended, and of its keeper.
    pub(super) async fn last_error_output(&self) -> String {
        self.outgoing.closed().await;
        let words = lock_mutex(&self.shared.last_words);
        String::from_utf8_lossy(&words).trim().to_owned()
    }
}

struct KeeperPipes {
    input: ChildStdin,
    output: ChildStdout,
    errors: ChildStderr,
}

/// Forwards messages until either side closes or the deadline passes, then waits for the keeper to
/// end.
async fn forward_messages(
    mut child: Child,
    pipes: KeeperPipes,
    mut calls: mpsc::Receiver<Vec<u8>>,
    mut deadlines: watch::Receiver<Instant>,
    shared: Arc<DevToolsState>,
) {
    let KeeperPipes { mut input, output, mut errors } = pipes;
    let told = {
        let receiving = receive_messages(output, &shared);
        let listening = keep_error_output(&mut errors, &shared);
        tokio::pin!(listening);
        tokio::select! {
            () = send_calls(&mut calls, &mut input) => BrowserEnding::Asked,
            () = wait_for_deadline(&mut deadlines) => BrowserEnding::Overdue,
            () = receiving => BrowserEnding::Gone,
            // This future never ends before the others.
            () = &mut listening => BrowserEnding::Gone,
        }
    };
    drop(input);
    let ended = timeout(END_TIME_MAX, async {
        keep_error_output(&mut errors, &shared).await;
        child.wait().await
    });
    if ended.await.is_err() {
        let _ = child.kill().await;
    }
    match told {
        BrowserEnding::Asked => {}
        BrowserEnding::Overdue => tracing::warn!("a browser was ended: its page took too long"),
        BrowserEnding::Gone => {
            let words = String::from_utf8_lossy(&lock_mutex(&shared.last_words)).trim().to_owned();
            tracing::warn!("a browser ended: {words}");
        }
    }
    // Tasks that wait for a response see their channels close.
    drop(calls);
    lock_mutex(&shared.answers).clear();
    lock_mutex(&shared.listeners).clear();
}

enum BrowserEnding {
    /// Ended by the service, which no longer needs the browser.
    Asked,
    Overdue,
    Gone,
}

async fn send_calls(calls: &mut mpsc::Receiver<Vec<u8>>, input: &mut ChildStdin) {
    while let Some(call) = calls.recv().await {
        if input.write_all(&call).await.is_err() {
            // The reading side sees why the pipe closed.
            std::future::pending::<()>().await;
        }
    }
}

async fn wait_for_deadline(deadlines: &mut watch::Receiver<Instant>) {
    loop {
        let deadline = *deadlines.borrow_and_update();
        tokio::select! {
            () = sleep_until(deadline) => return,
            changed = deadlines.changed() => {
                if changed.is_err() {
                    // The service no longer needs the browser; the end of `calls` shows that.
                    std::future::pending::<()>().await;
                }
            }
        }
    }
}

async fn receive_messages(output: ChildStdout, shared: &DevToolsState) {
    let mut messages = MessageReader::new(output);
    while let Ok(Some(message)) = messages.next().await {
        deliver_message(shared, &message);
    }
}

async fn keep_error_output(errors: &mut ChildStderr, shared: &DevToolsState) {
    let mut buffer = [0; LAST_WORDS_BYTES_MAX];
    while let Ok(length @ 1..) = errors.read(&mut buffer).await {
        let mut words = lock_mutex(&shared.last_words);
        words.extend_from_slice(&buffer[..length]);
        let surplus = words.len().saturating_sub(LAST_WORDS_BYTES_MAX);
        words.drain(..surplus);
    }
}

fn deliver_message(shared: &DevToolsState, message: &[u8]) {
    let Ok(message) = serde_json::from_slice::<Value>(message) else { return };
    if let Some(id) = message.get("id").and_then(Value::as_u64) {
        if let Some(waiting) = lock_mutex(&shared.answers).remove(&id) {
            let _ = waiting.send(message);
        }
        return;
    }
    if !message["method"].as_str().is_some_and(|method| EVENTS.contains(&method)) {
        return;
    }
    let page = message.get("sessionId").and_then(Value::as_str).unwrap_or_default();
    let listener = lock_mutex(&shared.listeners).get(page).cloned();
    if let Some(listener) = listener {
        let _ = listener.try_send(message);
    }
}

fn lock_mutex<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
