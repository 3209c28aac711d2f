//! The request of `POST /responses`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Input;
use crate::chat::{
    Fallback, Function, FunctionName, ReasoningOptions, ServiceParameters, ToolChoiceMode,
    ToolKind, Verbosity,
};

/// The body of `POST /responses`. The caller sends the whole conversation with each request,
/// because responses are not stored.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ResponseRequest {
    /// A model's id, a trait or a compatible name.
    #[schemars(length(min = 1))]
    pub model: String,
    /// A text, or the items of the conversation so far.
    pub input: Input,
    /// Inserted before the conversation as a system message.
    pub instructions: Option<String>,
    /// Accepted and discarded.
    pub include: Option<Vec<String>>,
    /// The maximum number of tokens to generate, including reasoning.
    #[schemars(range(min = 1))]
    pub max_output_tokens: Option<u64>,
    #[schemars(range(min = 0, max = 2))]
    pub temperature: Option<f64>,
    #[schemars(range(min = 0, max = 1))]
    pub top_p: Option<f64>,
    /// Models to try, in order, if the requested model cannot answer.
    #[schemars(length(max = 10))]
    pub fallbacks: Option<Vec<Fallback>>,
    pub reasoning: Option<ReasoningOptions>,
    pub text: Option<ResponseTextOptions>,
    /// The tools that the model may call. Unsupported types of tools are ignored.
    #[schemars(length(max = 1024))]
    pub tools: Option<Vec<ResponseTool>>,
    pub tool_choice: Option<ResponseToolChoice>,
    pub parallel_tool_calls: Option<bool>,
    /// Searches the web; the same as `service_parameters.enable_web_search`.
    pub web_search: Option<bool>,
    /// Streams the response as server-sent events.
    pub stream: Option<bool>,
    /// A routing hint that raises the cache hit rate.
    #[schemars(length(max = 512))]
    pub prompt_cache_key: Option<String>,
    /// Refused: responses are not stored and cannot be continued.
    pub previous_response_id: Option<String>,
    /// True is refused: responses are not stored and cannot be retrieved later.
    pub background: Option<bool>,
    /// Accepted and discarded: responses are not stored.
    pub store: Option<bool>,
    /// Accepted and discarded.
    pub metadata: Option<BTreeMap<String, String>>,
    /// Accepted and discarded.
    pub user: Option<String>,
    /// Options of this service.
    pub service_parameters: Option<ServiceParameters>,
}

/// Text options of a response.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ResponseTextOptions {
    pub format: Option<ResponseTextFormat>,
    /// The verbosity of the response.
    pub verbosity: Option<Verbosity>,
}

/// Plain text, any JSON object, or JSON that matches a schema.
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

/// A tool that the model may call. The fields of a function are given here or under `function`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ResponseTool {
    /// `function`, `web_search` or `x_search`. `file_search`, `code_interpreter` and
    /// `computer_use_preview` are refused; other types are ignored.
    #[serde(rename = "type")]
    #[schemars(length(min = 1))]
    pub kind: String,
    #[schemars(length(min = 1, max = 256))]
    pub name: Option<String>,
    pub description: Option<String>,
    /// The JSON schema of the function's arguments.
    pub parameters: Option<Map<String, Value>>,
    pub strict: Option<bool>,
    pub function: Option<Function>,
    /// For `web_search`: the amount of search results passed to the model.
    pub search_context_size: Option<SearchContextSize>,
    /// For `web_search`: the approximate location of the user.
    pub user_location: Option<UserLocation>,
    /// For `x_search`: only posts of these accounts.
    #[schemars(length(max = 10))]
    pub allowed_x_handles: Option<Vec<String>>,
    /// For `x_search`: no posts of these accounts.
    #[schemars(length(max = 10))]
    pub excluded_x_handles: Option<Vec<String>>,
    /// For `x_search`: the first day, `YYYY-MM-DD`.
    #[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}"))]
    pub from_date: Option<String>,
    /// For `x_search`: the last day, `YYYY-MM-DD`.
    #[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}"))]
    pub to_date: Option<String>,
    /// For `x_search`: true is refused, because images in posts are not analysed.
    pub enable_image_understanding: Option<bool>,
    /// For `x_search`: true is refused, because videos in posts are not analysed.
    pub enable_video_understanding: Option<bool>,
    /// For `file_search`, which is refused: files are not stored.
    pub vector_store_ids: Option<Vec<String>>,
    #[schemars(range(min = 1, max = 50))]
    pub max_num_results: Option<u32>,
    pub ranking_options: Option<RankingOptions>,
}

/// The amount of search results passed to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchContextSize {
    Low,
    Medium,
    High,
}

/// The approximate location of a user.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct UserLocation {
    /// Always `approximate`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    #[schemars(length(max = 128))]
    pub city: Option<String>,
    #[schemars(length(max = 128))]
    pub region: Option<String>,
    /// The two-letter country code.
    #[schemars(length(max = 2))]
    pub country: Option<String>,
    #[schemars(length(max = 64))]
    pub timezone: Option<String>,
}

/// Ranking of file search results.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct RankingOptions {
    pub ranker: Option<String>,
    #[schemars(range(min = 0, max = 1))]
    pub score_threshold: Option<f64>,
}

/// Controls tool calls: a mode, or a function that must be called.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ResponseToolChoice {
    Mode(ToolChoiceMode),
    Function(ResponseFunctionChoice),
}

/// The function that the model must call. The name is given here or under `function`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ResponseFunctionChoice {
    #[serde(rename = "type")]
    pub kind: ToolKind,
    #[schemars(length(min = 1, max = 256))]
    pub name: Option<String>,
    pub function: Option<FunctionName>,
}
