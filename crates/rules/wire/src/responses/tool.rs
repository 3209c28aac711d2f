//! The tools of a response: as declared, and as chosen.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::McpToolFields;
use crate::chat::{Function, FunctionName, ToolChoiceMode};

/// A tool that the model may call. The fields of a function are given here or under `function`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ResponseTool {
    /// `function`, `custom`, `namespace`, `tool_search`, `web_search`, `x_search` or `mcp`.
    /// `file_search`, `code_interpreter` and `computer_use_preview` are refused.
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
    /// For `custom`: the form of the text that the tool takes.
    pub format: Option<CustomToolFormat>,
    /// For `namespace`: the functions and custom tools in it.
    #[schemars(length(max = 1024))]
    pub tools: Option<Vec<ResponseTool>>,
    /// For `tool_search`: always `client`.
    pub execution: Option<String>,
    /// The fields for `mcp`.
    #[serde(flatten)]
    pub mcp: McpToolFields,
    /// For `web_search`: false allows no search.
    pub external_web_access: Option<bool>,
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

/// The form of the text that a custom tool takes.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct CustomToolFormat {
    /// `text` or `grammar`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The language of the grammar: `lark` or `regex`.
    pub syntax: Option<String>,
    /// The grammar.
    pub definition: Option<String>,
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

/// Controls tool calls: a mode, or the tools that must or may be called.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ResponseToolChoice {
    Mode(ToolChoiceMode),
    Selection(ToolSelection),
}

/// A tool that the model must call, or with `allowed_tools` those that it may call.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ToolSelection {
    /// `function`, `custom`, `tool_search`, `web_search`, `mcp` or `allowed_tools`.
    #[serde(rename = "type")]
    #[schemars(length(min = 1))]
    pub kind: String,
    #[schemars(length(min = 1, max = 256))]
    pub name: Option<String>,
    /// The namespace of the tool.
    #[schemars(length(min = 1, max = 256))]
    pub namespace: Option<String>,
    /// For `mcp`: the server. Without `name` any of its tools.
    #[schemars(length(min = 1, max = 64))]
    pub server_label: Option<String>,
    /// The name of a function, as chats have it.
    pub function: Option<FunctionName>,
    /// For `allowed_tools`: `auto` or `required`.
    pub mode: Option<ToolChoiceMode>,
    /// For `allowed_tools`: the tools, each by its type and name.
    #[schemars(length(max = 1024))]
    pub tools: Option<Vec<ToolSelection>>,
}
