//! A whole message.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// The answer of a model.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MessageReply {
    pub id: String,
    /// Always `message`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Always `assistant`.
    pub role: &'static str,
    pub model: String,
    pub content: Vec<MessageBlockReply>,
    /// Null only at the start of a stream.
    pub stop_reason: Option<MessageStopReason>,
    pub stop_sequence: Option<String>,
    pub usage: MessagesUsage,
}

/// One block of an answer.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MessageBlockReply {
    Thinking {
        thinking: String,
        /// Sent back unchanged with the next request.
        signature: String,
    },
    Text {
        text: String,
    },
    ToolUse {
        id: String,
        name: String,
        input: Map<String, Value>,
    },
    /// A tool that the service ran.
    ServerToolUse {
        id: String,
        name: &'static str,
        input: Map<String, Value>,
    },
    WebSearchToolResult {
        tool_use_id: String,
        content: Vec<SearchResultReply>,
    },
    /// A call of a tool of an MCP server, which the service made for the model.
    McpToolUse {
        id: String,
        name: String,
        server_name: String,
        input: Map<String, Value>,
    },
    McpToolResult {
        tool_use_id: String,
        is_error: bool,
        content: Vec<McpResultReply>,
    },
}

/// The result of a call of an MCP server, or the reason why there is none.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum McpResultReply {
    Text { text: String },
}

/// One result of a web search.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SearchResultReply {
    /// Always `web_search_result`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub url: String,
    pub title: String,
    /// Always empty: the model got the text of the result with its prompt.
    pub encrypted_content: String,
    /// The date of the page, if known.
    pub page_age: Option<String>,
}

/// The reason why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageStopReason {
    EndTurn,
    MaxTokens,
    StopSequence,
    ToolUse,
    PauseTurn,
    Refusal,
    ModelContextWindowExceeded,
}

/// The tokens of a request. Cached tokens are not part of `input_tokens`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MessagesUsage {
    pub input_tokens: u64,
    pub cache_creation_input_tokens: u64,
    pub cache_read_input_tokens: u64,
    pub cache_creation: CacheWriteUsage,
    pub output_tokens: u64,
    pub output_tokens_details: OutputUsageDetails,
    /// Null if the service ran no tool.
    pub server_tool_use: Option<ServerToolUsage>,
    /// Always `standard`.
    pub service_tier: &'static str,
}

/// Tokens written to the cache, by their lifetime.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CacheWriteUsage {
    pub ephemeral_5m_input_tokens: u64,
    pub ephemeral_1h_input_tokens: u64,
}

/// A breakdown of the output tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OutputUsageDetails {
    pub thinking_tokens: u64,
}

/// Tools that the service ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ServerToolUsage {
    pub web_search_requests: u64,
}

/// The reply of `POST /messages/count_tokens`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TokenCountReply {
    pub input_tokens: u64,
}
