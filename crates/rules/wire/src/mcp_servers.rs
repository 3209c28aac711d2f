//! `GET /mcp_servers`: the operator's MCP servers, whose tools models may call.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::models::Amount;

/// The operator's MCP servers.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct McpServerList {
    /// Always `list`.
    pub object: &'static str,
    pub data: Vec<McpServerEntry>,
    /// True if requests may name servers of the caller's own by their URLs.
    pub allows_caller_servers: bool,
}

/// An MCP server of the operator.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct McpServerEntry {
    /// The name of the server: `server_label` on `/responses`, `name` on `/messages`.
    pub label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The tools that models may call; null if that is every tool of the server.
    pub allowed_tools: Option<Vec<String>>,
    /// The price of a successful call.
    pub price_per_call: Amount,
}

/// The path of `GET /mcp_servers/{label}/tools`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct McpServerPath {
    /// The label of a server.
    #[schemars(length(min = 1, max = 64))]
    pub label: String,
}

/// The tools of a server, as the server describes them now.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct McpToolList {
    /// Always `list`.
    pub object: &'static str,
    pub data: Vec<McpToolEntry>,
}

/// A tool of an MCP server.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct McpToolEntry {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON schema of its arguments.
    pub input_schema: Map<String, Value>,
}
