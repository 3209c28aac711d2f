//! A chain node: JSON-RPC over HTTP. No message shows its URL.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use thiserror::Error;

use crate::json_server::JsonServer;
use crate::settler::SettleFailure;

const CALL_TIMEOUT: Duration = Duration::from_secs(15);

/// The reason why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum CallError {
    /// No connection was made, so the call was not executed.
    #[error("{what} cannot be reached: {cause}")]
    Unreached { what: &'static str, cause: String },
    /// The call may have been executed.
    #[error("{what} gave no answer: {cause}")]
    Lost { what: &'static str, cause: String },
    /// The node answered with an error.
    #[error("the node refused {what}: {message}")]
    Refused { what: &'static str, code: i64, message: String, data: Value },
}

/// Error codes and words of nodes for a contract that reverted; geth has a code for it.
const REVERT_CODE: i64 = 3;
const REVERT_WORDS: [&str; 3] = ["revert", "invalid opcode", "bad instruction"];

impl CallError {
    pub(crate) fn lost(what: &'static str, cause: impl ToString) -> CallError {
        CallError::Lost { what, cause: cause.to_string() }
    }

    /// True if a contract ran and reverted. Every other refusal is the node's own: it is throttled,
    /// behind, or rejects the query, and says nothing about the chain.
    pub(crate) fn is_revert(&self) -> bool {
        let CallError::Refused { code, message, data, .. } = self else { return false };
        let said = format!("{message} {data}").to_lowercase();
        *code == REVERT_CODE || REVERT_WORDS.iter().any(|words| said.contains(words))
    }
}

#[derive(Debug)]
pub(crate) struct ChainNode {
    server: JsonServer,
    calls: AtomicU64,
}

impl ChainNode {
    pub(crate) fn new(url: &str) -> Result<ChainNode, String> {
        Ok(ChainNode { server: JsonServer::new(url, CALL_TIMEOUT)?, calls: AtomicU64::new(1) })
    }

    /// Calls a method and returns its result, which may be null.
    pub(crate) async fn call(
        &self,
        method: &'static str,
        params: Value,
    ) -> Result<Value, CallError> {
        let id = self.calls.fetch_add(1, Ordering::Relaxed);
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let mut answer = self.server.post(&body, method).await?.body;
        if let Some(error) = answer.get("error").filter(|error| !error.is_null()) {
            return Err(decode_refusal(method, error));
        }
        match answer.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => Err(CallError::lost(method, "no JSON-RPC answer")),
        }
    }
}

/// Decodes a node's `error`, which should be an object and may be any JSON.
fn decode_refusal(what: &'static str, error: &Value) -> CallError {
    let message = error.get("message").and_then(Value::as_str).or_else(|| error.as_str());
    let message = message.unwrap_or("no reason given").to_owned();
    let code = error.get("code").and_then(Value::as_i64).unwrap_or(0);
    let data = error.get("data").cloned().unwrap_or_default();
    CallError::Refused { what, code, message, data }
}

impl From<CallError> for SettleFailure {
    fn from(error: CallError) -> SettleFailure {
        SettleFailure::unable(error)
    }
}
