//! The answers of the MCP endpoint.

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::Response;
use http_frame::operation::OpenApiOperation;
use http_frame::refusal::Refusal;
use http_frame::reply::{HandlerReply, WithHeaders};
use schemars::SchemaGenerator;
use serde_json::Value;
use wire::mcp::{McpError, McpReply, McpReplyBody};

/// The answers to the requests of a body.
pub(super) enum McpResponse {
    Body(McpReplyBody),
    /// There were only notifications or responses, which have no answer.
    Accepted,
}

impl HandlerReply for McpResponse {
    fn into_response(self) -> Result<Response, Refusal> {
        match self {
            McpResponse::Body(body) => WithHeaders::new(body).into_response(),
            McpResponse::Accepted => {
                let mut response = Response::new(Body::empty());
                *response.status_mut() = StatusCode::ACCEPTED;
                Ok(response)
            }
        }
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        WithHeaders::<McpReplyBody>::describe(operation, generator);
        operation.empty_reply(202, "A notification was read");
    }
}

pub(super) fn build_reply(id: Value, answered: Result<Value, McpError>) -> McpReply {
    let (result, error) = match answered {
        Ok(result) => (Some(result), None),
        Err(error) => (None, Some(error)),
    };
    McpReply { jsonrpc: "2.0", id, result, error }
}
