//! Client of a ComfyUI server: uploads files; queues, polls and stops workflows.

use bytes::Bytes;
use engine::{EngineError, ImageFile};
use outbound::{FormFile, RequestContent};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::parse_body;
use crate::job;
use crate::transport::UpstreamEndpoint;

/// One client id for all jobs: nothing subscribes to their events.
const CLIENT: &str = "tollgate";
/// Maximum characters of a failure reason.
const REASON_LETTERS_MAX: usize = 500;

#[derive(Clone)]
pub(crate) struct ComfyServer {
    pub(crate) prompt: UpstreamEndpoint,
    pub(crate) history: UpstreamEndpoint,
    pub(crate) view: UpstreamEndpoint,
    pub(crate) upload: UpstreamEndpoint,
    pub(crate) queue: UpstreamEndpoint,
    pub(crate) interrupt: UpstreamEndpoint,
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
struct PromptReceipt {
    prompt_id: String,
}

#[derive(Deserialize)]
struct UploadReceipt {
    name: String,
    #[serde(default)]
    subfolder: String,
}

impl ComfyServer {
    /// Queues a workflow and returns its job id.
    pub(crate) async fn submit(&self, graph: Value) -> Result<String, EngineError> {
        let body = json!({"prompt": graph, "client_id": CLIENT}).to_string();
        let accepted = self.prompt.post_json(body.into_bytes()).await?;
        let accepted: PromptReceipt = parse_body(&accepted)?;
        job::check_job_id(&accepted.prompt_id).map(str::to_owned)
    }

    /// Returns the history entry of a job.
    pub(crate) async fn fetch_history(&self, id: &str) -> Result<Bytes, EngineError> {
        self.history.get_bytes(&format!("/{id}")).await
    }

    /// The number of jobs ahead of this queued or running job; `None` if it is neither.
    pub(crate) async fn ahead_in_queue(&self, id: &str) -> Result<Option<u64>, EngineError> {
        Ok(count_jobs_ahead(&self.queue.get_bytes("").await?, id))
    }

    /// Removes a job from the queue, or interrupts it if it is running.
    pub(crate) async fn stop(&self, id: &str) {
        let removal = json!({"delete": [id]}).to_string();
        let _ = self.queue.post_json(removal.into_bytes()).await;
        let Ok(told) = self.queue.get_bytes("").await else { return };
        if is_job_listed(&told, "queue_running", id) {
            let named = json!({"prompt_id": id}).to_string();
            let _ = self.interrupt.post_json(named.into_bytes()).await;
        }
    }

    pub(super) async fn upload_picture(&self, picture: &ImageFile) -> Result<Value, EngineError> {
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
        let answer = self.upload.post_content(RequestContent::form_of_files(&[], &files)).await?;
        let put: UploadReceipt = parse_body(&answer)?;
        Ok(match put.subfolder.as_str() {
            "" => put.name.into(),
            folder => format!("{folder}/{}", put.name).into(),
        })
    }
}

impl ComfyFile {
    /// The query string that downloads this file from `/view`.
    pub(crate) fn view_query(&self) -> String {
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
pub(crate) fn failure_reason(status: &Value) -> String {
    let messages = status["messages"].as_array().into_iter().flatten();
    let mut told = messages.filter_map(|message| match message[0].as_str() {
        Some("execution_error") => message[1]["exception_message"].as_str(),
        Some("execution_interrupted") => Some("it was interrupted"),
        _ => None,
    });
    told.next().unwrap_or("it gave no reason").trim().chars().take(REASON_LETTERS_MAX).collect()
}

/// Pending jobs are listed in no order: the first element of each entry is its queue number.
fn count_jobs_ahead(queue: &[u8], id: &str) -> Option<u64> {
    if is_job_listed(queue, "queue_running", id) {
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

fn is_job_listed(body: &[u8], list: &str, id: &str) -> bool {
    let told: Value = serde_json::from_slice(body).unwrap_or_default();
    let mut entries = told[list].as_array().into_iter().flatten();
    entries.any(|entry| entry[1] == id)
}
