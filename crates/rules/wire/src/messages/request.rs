//! The requests of `POST /messages` and `POST /messages/count_tokens`.
//!
//! The lists are open: blocks, tools and fields that are not described here are accepted, because a
//! provider of the same protocol may know them. For other providers the request is translated, and
//! what cannot be translated is refused then.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::secret_text::SecretText;

/// The body of `POST /messages`. Fields that are not listed are sent on to providers that speak the
/// same protocol.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct MessagesRequest {
    /// A model's id, a trait or a compatible name.
    #[schemars(length(min = 1))]
    pub model: String,
    /// The conversation so far.
    #[schemars(length(min = 1))]
    pub messages: Vec<MessageTurn>,
    /// An upper bound on the answer, thinking included. Cut to the model's own.
    pub max_tokens: u64,
    /// Instructions before the conversation.
    pub system: Option<TurnContent>,
    /// The tools that the model may call.
    pub tools: Option<Vec<MessagesTool>>,
    /// `{"type": "auto" | "any" | "tool" | "none"}`, with `name` for `tool`, and
    /// `disable_parallel_tool_use`.
    pub tool_choice: Option<Map<String, Value>>,
    /// `{"type": "enabled" | "adaptive" | "disabled"}`, with `budget_tokens` and `display`.
    pub thinking: Option<Map<String, Value>>,
    /// `effort` from `low` to `max`, and `format` with a JSON schema.
    pub output_config: Option<Map<String, Value>>,
    /// The earlier place of `output_config.format`.
    pub output_format: Option<Map<String, Value>>,
    pub stop_sequences: Option<Vec<String>>,
    #[schemars(range(min = 0, max = 1))]
    pub temperature: Option<f64>,
    #[schemars(range(min = 0, max = 1))]
    pub top_p: Option<f64>,
    pub top_k: Option<u32>,
    /// Streams the answer as server-sent events.
    pub stream: Option<bool>,
    /// Marks the end of the prompt for the provider's cache.
    pub cache_control: Option<Map<String, Value>>,
    /// Sent on to providers that speak the same protocol only.
    pub metadata: Option<Map<String, Value>>,
    /// MCP servers whose tools the service calls for the model: `{"type": "url", "name"}` for one of
    /// the operator, with `url` and `authorization_token` for one of the caller.
    #[schemars(length(max = 8))]
    pub mcp_servers: Option<Vec<MessagesMcpServer>>,
}

/// The body of `POST /messages/count_tokens`: the prompt of a request.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct TokenCountRequest {
    /// A model's id, a trait or a compatible name.
    #[schemars(length(min = 1))]
    pub model: String,
    #[schemars(length(min = 1))]
    pub messages: Vec<MessageTurn>,
    pub system: Option<TurnContent>,
    pub tools: Option<Vec<MessagesTool>>,
    pub tool_choice: Option<Map<String, Value>>,
    pub thinking: Option<Map<String, Value>>,
    pub output_config: Option<Map<String, Value>>,
    pub output_format: Option<Map<String, Value>>,
    /// Accepted and discarded: the tools of MCP servers are not counted.
    pub mcp_servers: Option<Vec<Value>>,
}

/// An MCP server of a request.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct MessagesMcpServer {
    /// Always `url`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^[A-Za-z0-9_-]+$"))]
    pub name: String,
    /// The https URL of a server of the caller's own, if the operator allows such.
    #[schemars(length(min = 1, max = 2048))]
    pub url: Option<String>,
    /// Sent as a bearer token to `url`. Never stored or returned.
    pub authorization_token: Option<SecretText>,
    /// The earlier form of a tool set: `enabled` and `allowed_tools`.
    pub tool_configuration: Option<McpToolConfiguration>,
}

/// The tools of an MCP server, in the earlier form.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct McpToolConfiguration {
    pub enabled: Option<bool>,
    #[schemars(length(max = 128))]
    pub allowed_tools: Option<Vec<String>>,
}

/// Options of the tools of a tool set.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct McpToolOptions {
    pub enabled: Option<bool>,
    /// Accepted and discarded: tools are offered from the start.
    pub defer_loading: Option<bool>,
}

/// One message of the conversation.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct MessageTurn {
    /// `user`, `assistant`, or `system` after a message of the user.
    pub role: String,
    pub content: TurnContent,
    /// Options from this message on; those of the last message count.
    pub output_config: Option<Map<String, Value>>,
}

/// A text, or blocks.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TurnContent {
    Text(String),
    Blocks(Vec<MessageBlock>),
}

/// One block of a message: `text`, `image`, `document`, `search_result`, `tool_use`, `tool_result`,
/// `thinking`, `redacted_thinking`, `tool_addition`, `tool_removal` and others.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct MessageBlock {
    #[serde(rename = "type")]
    pub kind: String,
    /// The fields of this type of block.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// A tool that the model may call, or one that the service or the provider runs.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct MessagesTool {
    /// `custom` or absent for a tool of the caller; `web_search_…` for the service's web search;
    /// `mcp_toolset` for the tools of an MCP server.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub name: Option<String>,
    pub description: Option<String>,
    /// The JSON schema of the tool's input.
    pub input_schema: Option<Value>,
    pub strict: Option<bool>,
    /// True for a tool that is offered only after a reference to it.
    pub defer_loading: Option<bool>,
    /// For `mcp_toolset`: the server.
    pub mcp_server_name: Option<String>,
    /// For `mcp_toolset`: options of all tools that `configs` does not name.
    pub default_config: Option<McpToolOptions>,
    /// For `mcp_toolset`: options by the name of the tool.
    pub configs: Option<BTreeMap<String, McpToolOptions>>,
    /// For `web_search_…`: the maximum number of searches.
    pub max_uses: Option<u64>,
    /// For `web_search_…`: only results of these domains.
    pub allowed_domains: Option<Vec<String>>,
    /// For `web_search_…`: no results of these domains.
    pub blocked_domains: Option<Vec<String>>,
    /// For `web_search_…`: the approximate location of the user.
    pub user_location: Option<Map<String, Value>>,
}
