//! `POST /mcp`: messages of the Model Context Protocol, as the OpenAPI document describes them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A JSON-RPC request or notification. Clients of protocol version 2025-03-26 may send an array.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct McpMessage {
    /// Always `2.0`.
    pub jsonrpc: String,
    /// The id of a request: a text or an integer. Notifications have none.
    pub id: Option<Value>,
    /// `initialize`, `ping`, `server/discover`, `tools/list`, `tools/call` or a notification.
    pub method: String,
    pub params: Option<Map<String, Value>>,
}

/// The body of `POST /mcp`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum McpBody {
    One(McpMessage),
    Several(Vec<McpMessage>),
}

/// The answer to one request: `result` or `error`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct McpReply {
    /// Always `2.0`.
    pub jsonrpc: &'static str,
    /// The id of the request; null if it could not be read.
    pub id: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<McpError>,
}

/// The body of a response: the answer, or those to an array of requests.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum McpReplyBody {
    One(Box<McpReply>),
    Several(Vec<McpReply>),
}

/// The reason why a request was not carried out.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct McpError {
    /// A code of JSON-RPC or of the Model Context Protocol.
    pub code: i32,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// The body of a refused HTTP request.
#[derive(Debug, Serialize, JsonSchema)]
pub struct McpErrorReply {
    /// Always `2.0`.
    pub jsonrpc: &'static str,
    /// Null: the request was not read.
    pub id: Value,
    pub error: McpError,
}
