//! Responses to queued work.

use std::marker::PhantomData;

use axum::http::HeaderMap;
use axum::response::Response;
use domain::catalogue::Resolved;
use schemars::{JsonSchema, SchemaGenerator};

use crate::keyed::AnswerOrReplay;
use crate::model_headers;
use crate::operation::Operation;
use crate::refusal::Refusal;
use crate::reply::{Reply, WithHeaders};

/// The queued job, created now or replayed under the same idempotency key. `T` describes the
/// response in the OpenAPI document.
pub(crate) struct Queued<T> {
    given: AnswerOrReplay,
    /// Headers of the requested model.
    model_headers: HeaderMap,
    described_by: PhantomData<fn() -> T>,
}

impl<T> Queued<T> {
    pub(crate) fn new(given: AnswerOrReplay, resolved: &Resolved<'_>) -> Queued<T> {
        let model_headers = model_headers::write(WithHeaders::new(()), resolved).into_headers();
        Queued { given, model_headers, described_by: PhantomData }
    }
}

impl<T: JsonSchema> Reply for Queued<T> {
    fn into_response(self) -> Result<Response, Refusal> {
        let mut response = self.given.into_response();
        response.headers_mut().extend(self.model_headers);
        Ok(response)
    }

    fn describe(operation: &mut Operation, generator: &mut SchemaGenerator) {
        operation.reply::<T>(generator);
    }
}
