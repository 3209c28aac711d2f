//! The body of a chat, after what other APIs' clients write has been put into our words.

use axum::body::Body;
use axum::http::request::Parts;
use schemars::SchemaGenerator;
use serde_json::Value;
use wire::chat::{ChatCompletionRequest, InferenceError, InferenceRejection};

use super::compat;
use crate::input::{BodyLimits, Input, Json, Rejected};
use crate::operation::Operation;
use crate::refusal::Refusal;

#[derive(Debug)]
pub(super) struct ChatBody(pub(super) ChatCompletionRequest);

impl Input for ChatBody {
    type Raw = Value;

    async fn read(parts: &mut Parts, body: Body, limits: BodyLimits) -> Result<Value, Refusal> {
        Json::<ChatCompletionRequest>::read(parts, body, limits).await
    }

    fn check(mut raw: Value) -> Result<ChatBody, Rejected> {
        compat::rewrite(&mut raw);
        Ok(ChatBody(shape::parse(raw)?))
    }

    fn describe(operation: &mut Operation, generator: &mut SchemaGenerator) {
        Json::<ChatCompletionRequest>::describe(operation, generator);
        let meaning = "The prompt does not fit, or the model's engine rejected the request";
        operation.refusal::<InferenceError>(400, meaning, generator);
        operation.refusal::<InferenceRejection>(400, meaning, generator);
    }
}
