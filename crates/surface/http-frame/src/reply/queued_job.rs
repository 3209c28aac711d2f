//! Responses to queued work.

use std::marker::PhantomData;

use axum::http::HeaderMap;
use axum::response::Response;
use schemars::{JsonSchema, SchemaGenerator};

use crate::keyed_outcome::AnswerOrReplay;
use crate::operation::OpenApiOperation;
use crate::refusal::Refusal;
use crate::reply::HandlerReply;

/// The queued job, created now or replayed under the same idempotency key. `T` describes the
/// response in the OpenAPI document.
pub struct QueuedReply<T> {
    given: AnswerOrReplay,
    /// Headers of the requested model.
    model_headers: HeaderMap,
    described_by: PhantomData<fn() -> T>,
}

impl<T> QueuedReply<T> {
    pub fn new(given: AnswerOrReplay, model_headers: HeaderMap) -> QueuedReply<T> {
        QueuedReply { given, model_headers, described_by: PhantomData }
    }
}

impl<T: JsonSchema> HandlerReply for QueuedReply<T> {
    fn into_response(self) -> Result<Response, Refusal> {
        let mut response = self.given.into_response();
        response.headers_mut().extend(self.model_headers);
        Ok(response)
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        operation.reply::<T>(generator);
    }
}
