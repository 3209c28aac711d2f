//! The body of a chat request, after fields of related APIs were renamed to ours.

use axum::body::Body;
use axum::http::request::Parts;
use http_frame::input::{BodyLimits, HandlerInput, InputRejection, JsonBody};
use http_frame::operation::OpenApiOperation;
use http_frame::refusal::Refusal;
use schemars::SchemaGenerator;
use serde_json::Value;
use wire::chat::{ChatCompletionRequest, InferenceError, InferenceRejection};

use super::compat;

#[derive(Debug)]
pub(super) struct ChatBody {
    pub(super) request: ChatCompletionRequest,
    /// False if the request names no model, which is allowed only with a character.
    pub(super) names_model: bool,
}

/// The model that the operator marked as default.
const MODEL_DEFAULT: &str = "default";

impl HandlerInput for ChatBody {
    type Raw = Value;

    async fn read(parts: &mut Parts, body: Body, limits: BodyLimits) -> Result<Value, Refusal> {
        JsonBody::<ChatCompletionRequest>::read(parts, body, limits).await
    }

    fn check(mut raw: Value) -> Result<ChatBody, InputRejection> {
        compat::rewrite_request(&mut raw);
        let names_model = raw.get("model").is_some_and(|it| !it.is_null());
        let has_character = raw["service_parameters"]["character_slug"].is_string();
        if !names_model && has_character {
            raw["model"] = Value::from(MODEL_DEFAULT);
        }
        Ok(ChatBody { request: schema_check::check_and_parse(raw)?, names_model })
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        JsonBody::<ChatCompletionRequest>::describe(operation, generator);
        let meaning = "The prompt does not fit, or the model's engine rejected the request";
        operation.refusal::<InferenceError>(400, meaning, generator);
        operation.refusal::<InferenceRejection>(400, meaning, generator);
    }
}
