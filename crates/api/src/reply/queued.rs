//! Answers to work that was queued.

use std::marker::PhantomData;

use axum::response::Response;
use schemars::{JsonSchema, SchemaGenerator};

use crate::keyed::AnswerOrReplay;
use crate::operation::Operation;
use crate::refusal::Refusal;
use crate::reply::Reply;

/// What was queued, now or before under the same key. `T` is what the document says about it.
pub(crate) struct Queued<T> {
    given: AnswerOrReplay,
    described_by: PhantomData<fn() -> T>,
}

impl<T> Queued<T> {
    pub(crate) fn new(given: AnswerOrReplay) -> Queued<T> {
        Queued { given, described_by: PhantomData }
    }
}

impl<T: JsonSchema> Reply for Queued<T> {
    fn into_response(self) -> Result<Response, Refusal> {
        Ok(self.given.into_response())
    }

    fn describe(operation: &mut Operation, generator: &mut SchemaGenerator) {
        operation.reply::<T>(generator);
    }
}
