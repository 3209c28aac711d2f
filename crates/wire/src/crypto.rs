//! The JSON-RPC proxy to chain nodes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The networks that the proxy serves.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NetworkList {
    /// Slugs such as `base-mainnet`, sorted. Only networks that have nodes are listed.
    pub networks: Vec<&'static str>,
}

/// Which network is called.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct RpcPath {
    /// The slug of the network, such as `ethereum-mainnet`.
    pub network: String,
}

/// What is sent: one call, or a batch of them.
#[derive(Debug, JsonSchema)]
#[serde(untagged)]
pub enum RpcBody {
    One(RpcCall),
    Many(#[schemars(length(min = 1, max = 100))] Vec<RpcCall>),
}

/// A JSON-RPC 2.0 call.
#[derive(Debug, JsonSchema)]
pub struct RpcCall {
    /// Always `2.0`.
    pub jsonrpc: Option<String>,
    /// The name of a served method, such as `eth_blockNumber`.
    pub method: String,
    /// The method's parameters, in order.
    pub params: Option<Vec<Value>>,
    /// Comes back with the answer. Required in a batch.
    pub id: Option<RpcId>,
}

/// What tells the answers of a batch apart.
#[derive(Debug, JsonSchema)]
#[serde(untagged)]
pub enum RpcId {
    Number(i64),
    Text(String),
}

/// What comes back: one answer, or the answers of a batch in the order of its calls.
#[derive(Debug, JsonSchema)]
#[serde(untagged)]
pub enum RpcAnswers {
    One(Box<RpcAnswer>),
    Many(Vec<RpcAnswer>),
}

/// A node's answer to a call: it has a `result` or an `error`.
#[derive(Debug, JsonSchema)]
pub struct RpcAnswer {
    pub jsonrpc: Option<String>,
    /// The id of the call, as it was sent.
    pub id: Value,
    pub result: Option<Value>,
    pub error: Option<RpcError>,
}

/// Why a call failed, as the node told it.
#[derive(Debug, JsonSchema)]
pub struct RpcError {
    pub code: i64,
    pub message: String,
    /// What else the node told, such as the reason of a revert.
    pub data: Option<Value>,
}

/// The 429 of the proxy: which of its caps was reached.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CapError {
    pub error: String,
    /// The cap in words: requests per minute, or credits per 24 hours.
    pub custom_message: String,
}
