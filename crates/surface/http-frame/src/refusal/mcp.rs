//! Refusals of the MCP endpoint: JSON-RPC errors with an HTTP status.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use wire::mcp::McpError;

use crate::refusal::openai_error::issues_message;
use crate::refusal::render::{RefusalBody, RenderedRefusal, read_message};
use crate::refusal::{Refusal, to_value};

pub const PARSE_ERROR: i32 = -32700;
pub const INVALID_REQUEST: i32 = -32600;
pub const METHOD_NOT_FOUND: i32 = -32601;
pub const INVALID_PARAMS: i32 = -32602;
pub const INTERNAL_ERROR: i32 = -32603;
/// Codes of the protocol: headers that contradict the body, and an unknown version.
pub const HEADER_MISMATCH: i32 = -32020;
pub const UNSUPPORTED_VERSION: i32 = -32022;

/// A refusal in the form of JSON-RPC.
#[derive(Debug)]
pub struct McpRefusal(RenderedRefusal);

impl McpRefusal {
    /// A fault of the message itself: 404 for an unknown method, else 400.
    pub fn from_error(id: Value, error: &McpError) -> McpRefusal {
        let status = match error.code {
            METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
            _ => StatusCode::BAD_REQUEST,
        };
        McpRefusal(RenderedRefusal::new(status, "Invalid MCP message", build_body(id, error)))
    }

    /// 406: the client does not read JSON.
    pub fn not_acceptable() -> McpRefusal {
        let message = "Send Accept: application/json, text/event-stream.".to_owned();
        let error = McpError { code: INVALID_REQUEST, message, data: None };
        let body = build_body(Value::Null, &error);
        McpRefusal(RenderedRefusal::new(StatusCode::NOT_ACCEPTABLE, "Not acceptable", body))
    }
}

impl From<Refusal> for McpRefusal {
    fn from(refusal: Refusal) -> McpRefusal {
        let is_unparsed = refusal.0.reason == Refusal::not_json().0.reason;
        let rendered = refusal.into_rendered();
        let code = match rendered.status.as_u16() {
            400 if is_unparsed => PARSE_ERROR,
            429 | 500.. => INTERNAL_ERROR,
            _ => INVALID_REQUEST,
        };
        let error = McpError { code, message: describe_refusal(&rendered.body), data: None };
        McpRefusal(RenderedRefusal { body: build_body(Value::Null, &error), ..rendered })
    }
}

impl IntoResponse for McpRefusal {
    fn into_response(self) -> Response {
        let mut response = self.0.into_response();
        // The shape stays the same below `/v1`.
        response.extensions_mut().remove::<RefusalBody>();
        response
    }
}

/// The message of a refused call, with every fault of its input.
pub fn describe_refusal(body: &Value) -> String {
    let message = match body["issues"].get(0) {
        Some(_) => issues_message(body),
        None => read_message(body).unwrap_or_default().to_owned(),
    };
    if message.is_empty() { "The call failed.".to_owned() } else { message }
}

fn build_body(id: Value, error: &McpError) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": to_value(error) })
}
