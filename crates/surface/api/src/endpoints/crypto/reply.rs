//! The response to JSON-RPC calls.

use axum::response::Response;
use http_frame::keyed_work::AnswerOrReplay;
use http_frame::operation::OpenApiOperation;
use http_frame::refusal::Refusal;
use http_frame::reply::HandlerReply;
use schemars::SchemaGenerator;
use wire::crypto::{CapError, RpcAnswers};

/// A node's response, or the replay of an earlier one.
#[derive(Debug)]
pub(crate) struct RpcReply(pub(super) AnswerOrReplay);

impl HandlerReply for RpcReply {
    fn into_response(self) -> Result<Response, Refusal> {
        Ok(self.0.into_response())
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        operation.reply::<RpcAnswers>(generator);
        let meaning = "A limit is reached; X-RateLimit-Limit, -Remaining and -Reset (in seconds) \
                       describe it";
        operation.refusal::<CapError>(429, meaning, generator);
    }
}
