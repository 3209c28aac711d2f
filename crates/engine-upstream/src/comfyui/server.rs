//! Client of a ComfyUI server: uploads files; queues, polls and stops workflows.

use bytes::Bytes;
use engine::{EngineError, Picture};
use outbound::{Content, FormFile};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::parse;
use crate::job;
use crate::transport::Endpoint;

/// One client id for all jobs: nothing subscribes to their events.
const CLIENT: &str = "tollgate";
/// Maximum characters of a failure reason.
const REASON_LETTERS_MAX: usize = 500;

#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) prompt: Endpoint,
    pub(crate) history: Endpoint,
    pub(crate) view: Endpoint,
    pub(crate) upload: Endpoint,
    pub(crate) queue: Endpoint,
    pub(crate) interrupt: Endpoint,
}

/// A file that a node wrote.
#[derive(Debug, Clone, Deserialize, PartialEq, Eq)]
pub(crate) struct ComfyFile {
    pub(crate) filename: String,
    #[serde(default)]
    pub(crate) subfolder: String,
    #[serde(default, rename = "type")]
    pub(crate) kind: String,
}

#[derive(Deserialize)]
struct Accepted {
    prompt_id: String,
}

#[derive(Deserialize)]
struct Uploaded {
    name: String,
    #[serde(default)]
    subfolder: String,
}

impl Server {
    /// Queues a workflow and returns its job id.
    pub(crate) async fn submit(&self, graph: Value) -> Result<String, EngineError> {
        let body = json!({"prompt": graph, "client_id": CLIENT}).to_string();
        let accepted = self.prompt.ask(body.into_bytes()).await?;
        let accepted: Accepted = parse(&accepted)?;
        job::id(&accepted.prompt_id).map(str::to_owned)
    }

    /// Returns the history entry of a job.
    pub(crate) async fn told_of(&self, id: &str) -> Result<Bytes, EngineError> {
        self.history.fetch(&format!("/{id}")).await
    }

    /// The number of jobs ahead of this queued or running job; `None` if it is neither.
    pub(crate) async fn ahead_in_queue(&self, id: &str) -> Result<Option<u64>, EngineError> {
        Ok(ahead(&self.queue.fetch("").await?, id))
    }

    /// Removes a job from the queue, or interrupts it if it is running.
    pub(crate) async fn stop(&self, id: &str) {
        let removal = json!({"delete": [id]}).to_string();
        let _ = self.queue.ask(removal.into_bytes()).await;
        let Ok(told) = self.queue.fetch("").await else { return };
        if is_in(&told, "queue_running", id) {
            let named = json!({"prompt_id": id}).to_string();
            let _ = self.interrupt.ask(named.into_bytes()).await;
        }
    }

    pub(super) async fn upload_picture(&self, picture: &Picture) -> Result<Value, EngineError> {
        let kind = picture.kind;
        self.upload(kind.extension, kind.mime, picture.bytes.clone()).await
    }

    /// Uploads an image for nodes to load, and returns its name on the server.
    pub(crate) async fn upload(
        &self,
        extension: &str,
        mime: &'static str,
        bytes: Bytes,
    ) -> Result<Value, EngineError> {
        let name = format!("tollgate.{extension}");
        let files = [("image", FormFile { name: &name, mime, bytes })];
        let answer = self.upload.ask_with(Content::form_of_files(&[], &files)).await?;
        let put: Uploaded = parse(&answer)?;
        Ok(match put.subfolder.as_str() {
            "" => put.name.into(),
            folder => format!("{folder}/{}", put.name).into(),
        })
    }
}

impl ComfyFile {
    /// The query string that downloads this file from `/view`.
    pub(crate) fn address(&self) -> String {
        let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        format!(
            "?filename={}&subfolder={}&type={}",
            encoded(&self.filename),
            encoded(&self.subfolder),
            encoded(&self.kind)
        )
    }
}

/// The reason why a workflow failed.
pub(crate) fn reason(status: &Value) -> String {
    let messages = status["messages"].as_array().into_iter().flatten();
    let mut told = messages.filter_map(|message| match message[0].as_str() {
        Some("execution_error") => message[1]["exception_message"].as_str(),
        Some("execution_interrupted") => Some("it was interrupted"),
        _ => None,
    });
    told.next().unwrap_or("it gave no reason").trim().chars().take(REASON_LETTERS_MAX).collect()
}

/// Pending jobs are listed in no order: the first element of each entry is its queue number.
fn ahead(queue: &[u8], id: &str) -> Option<u64> {
    if is_in(queue, "queue_running", id) {
        return Some(0);
    }
    let told: Value = serde_json::from_slice(queue).unwrap_or_default();
    let entries = |list: &str| told[list].as_array().cloned().unwrap_or_default();
    let waiting = entries("queue_pending");
    let number = |entry: &Value| entry[0].as_f64().unwrap_or_default();
    let ours = number(waiting.iter().find(|entry| entry[1] == id)?);
    let before = waiting.iter().filter(|entry| number(entry) < ours).count();
    Some((entries("queue_running").len() + before) as u64)
}

fn is_in(body: &[u8], list: &str, id: &str) -> bool {
    let told: Value = serde_json::from_slice(body).unwrap_or_default();
    let mut entries = told[list].as_array().into_iter().flatten();
    entries.any(|entry| entry[1] == id)
}
