//! What a response is asked for.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Input;
use crate::chat::{
    Fallback, Function, FunctionName, ReasoningOptions, ServiceParameters, ToolChoiceMode,
    ToolKind, Verbosity,
};

/// `POST /responses`: one turn of a model, whole or as a stream. The caller sends the whole
/// conversation each time, because nothing is stored.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ResponseRequest {
    /// A model's id, a trait or a compatible name.
    #[schemars(length(min = 1))]
    pub model: String,
    /// A text, or the items of the conversation so far.
    pub input: Input,
    /// Stands before the conversation as a system message.
    pub instructions: Option<String>,
    /// Accepted and discarded.
    pub include: Option<Vec<String>>,
    /// The most tokens the answer may have, reasoning included.
    #[schemars(range(min = 1))]
    pub max_output_tokens: Option<u64>,
    #[schemars(range(min = 0, max = 2))]
    pub temperature: Option<f64>,
    #[schemars(range(min = 0, max = 1))]
    pub top_p: Option<f64>,
    /// Models to try, in order, when the one asked for cannot answer.
    #[schemars(length(max = 10))]
    pub fallbacks: Option<Vec<Fallback>>,
    pub reasoning: Option<ReasoningOptions>,
    pub text: Option<ResponseTextOptions>,
    /// What the model may call. Kinds of tools that this service does not run are left out.
    #[schemars(length(max = 1024))]
    pub tools: Option<Vec<ResponseTool>>,
    pub tool_choice: Option<ResponseToolChoice>,
    pub parallel_tool_calls: Option<bool>,
    /// Searches the web; the same as `service_parameters.enable_web_search`.
    pub web_search: Option<bool>,
    /// Streams the answer.
    pub stream: Option<bool>,
    /// Routing hint for cache hits.
    #[schemars(length(max = 512))]
    pub prompt_cache_key: Option<String>,
    /// Refused: nothing is stored, so there is nothing to go on from.
    pub previous_response_id: Option<String>,
    /// True is refused: a response is given at once or not at all.
    pub background: Option<bool>,
    /// Accepted and discarded: nothing is stored.
    pub store: Option<bool>,
    /// Accepted and discarded.
    pub metadata: Option<BTreeMap<String, String>>,
    /// Accepted and discarded.
    pub user: Option<String>,
    /// Options of this service.
    pub service_parameters: Option<ServiceParameters>,
}

/// The form of the answer's text.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ResponseTextOptions {
    pub format: Option<ResponseTextFormat>,
    /// How wordy to be.
    pub verbosity: Option<Verbosity>,
}

/// Text, any JSON, or JSON of a schema.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ResponseTextFormat {
    Text,
    JsonObject,
    JsonSchema {
        #[schemars(length(max = 64))]
        name: Option<String>,
        schema: Map<String, Value>,
        strict: Option<bool>,
    },
}

/// Something the model may call. A function's members stand here, or under `function`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ResponseTool {
    /// `function`, `web_search`, `x_search`, or a kind that is left out. `file_search`,
    /// `code_interpreter` and `computer_use_preview` are refused.
    #[serde(rename = "type")]
    #[schemars(length(min = 1))]
    pub kind: String,
    #[schemars(length(min = 1, max = 256))]
    pub name: Option<String>,
    pub description: Option<String>,
    /// The JSON schema of its arguments.
    pub parameters: Option<Map<String, Value>>,
    pub strict: Option<bool>,
    pub function: Option<Function>,
    /// Of a web search: how much of what it finds the model reads.
    pub search_context_size: Option<SearchContextSize>,
    /// Of a web search: where the user is.
    pub user_location: Option<UserLocation>,
    /// Of a search of X: whose posts.
    #[schemars(length(max = 10))]
    pub allowed_x_handles: Option<Vec<String>>,
    /// Of a search of X: whose posts are left out.
    #[schemars(length(max = 10))]
    pub excluded_x_handles: Option<Vec<String>>,
    /// Of a search of X: from which day on.
    #[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}"))]
    pub from_date: Option<String>,
    /// Of a search of X: up to which day.
    #[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}"))]
    pub to_date: Option<String>,
    /// Of a search of X: whether pictures are looked at.
    pub enable_image_understanding: Option<bool>,
    /// Of a search of X: whether videos are looked at.
    pub enable_video_understanding: Option<bool>,
    /// Of a search of files, which is refused: nothing is stored.
    pub vector_store_ids: Option<Vec<String>>,
    #[schemars(range(min = 1, max = 50))]
    pub max_num_results: Option<u32>,
    pub ranking_options: Option<RankingOptions>,
}

/// How much of what a search finds is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchContextSize {
    Low,
    Medium,
    High,
}

/// Roughly where a user is.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct UserLocation {
    /// `approximate`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    #[schemars(length(max = 128))]
    pub city: Option<String>,
    #[schemars(length(max = 128))]
    pub region: Option<String>,
    /// Two letters.
    #[schemars(length(max = 2))]
    pub country: Option<String>,
    #[schemars(length(max = 64))]
    pub timezone: Option<String>,
}

/// How what is found in files is ordered.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct RankingOptions {
    pub ranker: Option<String>,
    #[schemars(range(min = 0, max = 1))]
    pub score_threshold: Option<f64>,
}

/// Whether and what the model must call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ResponseToolChoice {
    Mode(ToolChoiceMode),
    Function(ResponseFunctionChoice),
}

/// The function that the model must call. Its name stands here, or under `function`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ResponseFunctionChoice {
    #[serde(rename = "type")]
    pub kind: ToolKind,
    #[schemars(length(min = 1, max = 256))]
    pub name: Option<String>,
    pub function: Option<FunctionName>,
}
