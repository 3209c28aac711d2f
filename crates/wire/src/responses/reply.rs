//! A whole response.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::chat::{CompletionRole, ToolKind};

/// What the model did with one turn.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Response {
    /// `resp_…`.
    pub id: String,
    /// Always `response`.
    pub object: &'static str,
    /// Unix seconds.
    pub created_at: i64,
    /// The model that answered.
    pub model: String,
    pub status: ResponseStatus,
    pub output: Vec<OutputItem>,
    /// Whether the model was allowed to call several functions at once.
    pub parallel_tool_calls: bool,
    pub tool_choice: EchoedToolChoice,
    /// What the model was offered.
    pub tools: Vec<EchoedTool>,
    /// Absent until the response is over.
    pub usage: Option<ResponseUsage>,
    /// Why the response is not complete.
    pub incomplete_details: Option<IncompleteDetails>,
    /// Why the response failed.
    pub error: Option<ResponseError>,
}

/// How far a response is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResponseStatus {
    Completed,
    Failed,
    InProgress,
    Incomplete,
}

/// One thing that the model did.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum OutputItem {
    Reasoning {
        id: String,
        summary: Vec<SummaryPart>,
    },
    FunctionCall {
        id: String,
        call_id: String,
        name: String,
        /// JSON as the model wrote it.
        arguments: String,
        status: ItemStatus,
    },
    /// A search of the web that was made for the model.
    WebSearchCall {
        id: String,
        status: ItemStatus,
        action: SearchAction,
    },
    Message {
        id: String,
        status: ItemStatus,
        role: CompletionRole,
        content: Vec<OutputPart>,
    },
}

/// What was searched for.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SearchAction {
    Search { query: String },
}

/// How far an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemStatus {
    InProgress,
    Completed,
    Incomplete,
}

/// A piece of what the model thought.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SummaryPart {
    SummaryText { text: String },
}

/// A piece of what the model said.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum OutputPart {
    OutputText {
        text: String,
        /// The sources that the text cites.
        annotations: Vec<ResponseAnnotation>,
    },
    Refusal {
        refusal: String,
    },
}

/// A place in the text that rests on a page: from one character to before another.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ResponseAnnotation {
    UrlCitation { start_index: usize, end_index: usize, title: String, url: String },
}

/// Whether and what the model had to call.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum EchoedToolChoice {
    /// `auto`, `none` or `required`.
    Mode(&'static str),
    Function {
        #[serde(rename = "type")]
        kind: ToolKind,
        name: String,
    },
}

/// A function that the model was offered, or the search of the web.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EchoedTool {
    Function {
        name: String,
        description: Option<String>,
        parameters: Option<Map<String, Value>>,
        strict: Option<bool>,
    },
    WebSearch {},
}

/// The tokens of a response.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct ResponseUsage {
    pub input_tokens: u64,
    pub input_tokens_details: InputTokensDetails,
    /// Reasoning included.
    pub output_tokens: u64,
    pub output_tokens_details: OutputTokensDetails,
    pub total_tokens: u64,
}

/// Parts of the input tokens.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct InputTokensDetails {
    /// Read from the prompt cache.
    pub cached_tokens: u64,
}

/// Parts of the output tokens.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct OutputTokensDetails {
    /// Spent on thinking.
    pub reasoning_tokens: u64,
}

/// Why a response is not complete.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct IncompleteDetails {
    pub reason: IncompleteReason,
}

/// What cut a response short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IncompleteReason {
    MaxOutputTokens,
    ContentFilter,
}

/// Why a response failed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ResponseError {
    pub code: &'static str,
    pub message: String,
}
