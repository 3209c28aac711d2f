//! The JSON-RPC proxy to blockchain nodes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The networks that the proxy serves.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NetworkList {
    /// The slugs of networks with configured nodes, such as `base-mainnet`, sorted.
    pub networks: Vec<&'static str>,
}

/// The path parameters of an RPC call.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct RpcPath {
    /// The slug of the network, such as `ethereum-mainnet`.
    pub network: String,
}

/// The body of an RPC request: one call, or a batch of 1 to 100 calls.
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
    /// Returned with the response. Required in a batch.
    pub id: Option<RpcId>,
}

/// The id that matches a response to its call.
#[derive(Debug, JsonSchema)]
#[serde(untagged)]
pub enum RpcId {
    Number(i64),
    Text(String),
}

/// The result: one response, or the responses of a batch in the order of its calls.
#[derive(Debug, JsonSchema)]
#[serde(untagged)]
pub enum RpcAnswers {
    One(Box<RpcAnswer>),
    Many(Vec<RpcAnswer>),
}

/// A node's response to a call, with either a `result` or an `error`.
#[derive(Debug, JsonSchema)]
pub struct RpcAnswer {
    pub jsonrpc: Option<String>,
    /// The id of the call as it was sent.
    pub id: Value,
    pub result: Option<Value>,
    pub error: Option<RpcError>,
}

/// The error that the node returned.
#[derive(Debug, JsonSchema)]
pub struct RpcError {
    pub code: i64,
    pub message: String,
    /// Additional data from the node, such as the reason of a revert.
    pub data: Option<Value>,
}

/// The 429 response of the proxy.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CapError {
    pub error: String,
    /// The limit that was reached: requests per minute, or credits per 24 hours.
    pub custom_message: String,
}
