//! JSON bodies that are kept byte for byte.

use std::marker::PhantomData;

use axum::body::Body;
use axum::http::request::Parts;
use bytes::Bytes;
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::IgnoredAny;

use crate::input::{BodyLimits, HandlerInput, InputRejection, body, json};
use crate::operation::OpenApiOperation;
use crate::refusal::Refusal;

/// A body that is valid JSON and otherwise unchecked: the handler checks it. `T` describes it in
/// the OpenAPI document.
#[derive(Debug)]
pub struct RawJson<T> {
    pub bytes: Bytes,
    described_by: PhantomData<fn() -> T>,
}

impl<T: JsonSchema + 'static> HandlerInput for RawJson<T> {
    type Raw = Bytes;

    async fn read(parts: &mut Parts, body: Body, limits: BodyLimits) -> Result<Bytes, Refusal> {
        json::check_content_type(&parts.headers)?;
        let bytes = body::read_body(&parts.headers, body, limits).await?;
        serde_json::from_slice::<IgnoredAny>(&bytes).map_err(|_| Refusal::not_json())?;
        Ok(bytes)
    }

    fn check(bytes: Bytes) -> Result<RawJson<T>, InputRejection> {
        Ok(RawJson { bytes, described_by: PhantomData })
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        operation.body::<T>("application/json", generator);
        json::describe_refusals(operation, generator);
    }
}
