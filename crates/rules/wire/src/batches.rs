//! `/batches`: lists of calls that run when there is room for them, in OpenAI's form.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::chat::Cost;
use crate::files::{ExpiryAnchor, ListKind};

/// A batch to be created.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct BatchRequest {
    /// A file of purpose `batch`: one request per line, as
    /// `{"custom_id": "…", "method": "POST", "url": "…", "body": {…}}`.
    #[schemars(length(min = 1, max = 200))]
    pub input_file_id: String,
    /// The `url` of every line.
    pub endpoint: BatchEndpoint,
    /// Time within which the batch ends, with what is done by then.
    pub completion_window: CompletionWindow,
    /// Tags of the caller's own: up to 16, with keys of 64 and values of 512 characters.
    pub metadata: Option<BTreeMap<String, String>>,
    /// Time after which the output files are deleted. The operator's own bound counts too.
    pub output_expires_after: Option<OutputExpiry>,
}

/// Time after which a file is deleted.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct OutputExpiry {
    pub anchor: ExpiryAnchor,
    #[schemars(range(min = 3600, max = 2_592_000))]
    pub seconds: u64,
}

/// An endpoint that lines may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum BatchEndpoint {
    #[serde(rename = "/v1/chat/completions")]
    ChatCompletions,
    #[serde(rename = "/v1/responses")]
    Responses,
    #[serde(rename = "/v1/embeddings")]
    Embeddings,
    #[serde(rename = "/v1/messages")]
    Messages,
}

impl BatchEndpoint {
    pub const ALL: [BatchEndpoint; 4] = [
        BatchEndpoint::ChatCompletions,
        BatchEndpoint::Responses,
        BatchEndpoint::Embeddings,
        BatchEndpoint::Messages,
    ];

    /// The `url` of its lines.
    pub fn url(self) -> &'static str {
        match self {
            BatchEndpoint::ChatCompletions => "/v1/chat/completions",
            BatchEndpoint::Responses => "/v1/responses",
            BatchEndpoint::Embeddings => "/v1/embeddings",
            BatchEndpoint::Messages => "/v1/messages",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum CompletionWindow {
    #[serde(rename = "24h")]
    Day,
}

/// A batch in a path.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct BatchPath {
    #[schemars(length(min = 1, max = 200))]
    pub batch_id: String,
}

/// The query of `GET /batches`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct BatchListQuery {
    /// The last batch of the page before.
    #[schemars(length(min = 1, max = 200))]
    pub after: Option<String>,
    #[schemars(range(min = 1, max = 100), extend("default" = 20))]
    pub limit: Option<usize>,
}

/// A batch. Times are Unix times in seconds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BatchObject {
    pub id: String,
    pub object: BatchObjectKind,
    pub endpoint: String,
    /// Faults of the input file, for a failed batch.
    pub errors: Option<BatchFaultList>,
    pub input_file_id: String,
    pub completion_window: CompletionWindow,
    pub status: BatchStatus,
    /// The results, in the order of the lines.
    pub output_file_id: Option<String>,
    /// The lines that failed or were not run.
    pub error_file_id: Option<String>,
    pub created_at: i64,
    pub in_progress_at: Option<i64>,
    pub expires_at: i64,
    pub finalizing_at: Option<i64>,
    pub completed_at: Option<i64>,
    pub failed_at: Option<i64>,
    pub expired_at: Option<i64>,
    pub cancelling_at: Option<i64>,
    pub cancelled_at: Option<i64>,
    pub request_counts: BatchRequestCounts,
    pub metadata: Option<BTreeMap<String, String>>,
    /// The amount charged so far, by currency.
    pub cost: Cost,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BatchObjectKind {
    Batch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BatchStatus {
    Validating,
    Failed,
    InProgress,
    Finalizing,
    Completed,
    Expired,
    Cancelling,
    Cancelled,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct BatchRequestCounts {
    /// The lines of the file; zero until it was read.
    pub total: u64,
    pub completed: u64,
    pub failed: u64,
}

/// Faults of an input file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BatchFaultList {
    pub object: ListKind,
    pub data: Vec<BatchFaultObject>,
}

/// A fault of an input file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BatchFaultObject {
    pub code: String,
    /// The number of the line, from one; null for the file as a whole.
    pub line: Option<u32>,
    pub message: String,
    /// The field of the line.
    pub param: Option<String>,
}

/// A page of batches, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BatchList {
    pub object: ListKind,
    pub data: Vec<BatchObject>,
    pub first_id: Option<String>,
    pub last_id: Option<String>,
    pub has_more: bool,
}
