//! A JSON body for a model. The engine may still reject it after our checks.

use axum::body::Body;
use axum::http::request::Parts;
use http_frame::input::{BodyLimits, HandlerInput, InputRejection, JsonBody};
use http_frame::operation::OpenApiOperation;
use http_frame::refusal::Refusal;
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;
use wire::chat::{InferenceError, InferenceRejection};

#[derive(Debug)]
pub(super) struct InferenceBody<T>(pub(super) T);

impl<T: JsonSchema + DeserializeOwned + Send + 'static> HandlerInput for InferenceBody<T> {
    type Raw = Value;

    async fn read(parts: &mut Parts, body: Body, limits: BodyLimits) -> Result<Value, Refusal> {
        JsonBody::<T>::read(parts, body, limits).await
    }

    fn check(raw: Value) -> Result<InferenceBody<T>, InputRejection> {
        let JsonBody(body) = JsonBody::<T>::check(raw)?;
        Ok(InferenceBody(body))
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        JsonBody::<T>::describe(operation, generator);
        let meaning = "The prompt does not fit, or the model's engine rejected the request";
        operation.refusal::<InferenceError>(400, meaning, generator);
        operation.refusal::<InferenceRejection>(400, meaning, generator);
    }
}
