//! JSON bodies that are checked and also kept byte for byte, to recognise a repeated request.

use axum::body::Body;
use axum::http::request::Parts;
use bytes::Bytes;
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::input::{BodyLimits, Input, Rejected, body, json};
use crate::operation::Operation;
use crate::refusal::Refusal;

/// A body that has passed its published schema, with its original bytes.
#[derive(Debug)]
pub struct Original<T> {
    pub body: T,
    pub bytes: Bytes,
}

impl<T: JsonSchema + DeserializeOwned + Send + 'static> Input for Original<T> {
    type Raw = (Bytes, Value);

    async fn read(parts: &mut Parts, body: Body, limits: BodyLimits) -> Result<Self::Raw, Refusal> {
        json::check_content_type(&parts.headers)?;
        let bytes = body::read(&parts.headers, body, limits).await?;
        let value = serde_json::from_slice(&bytes).map_err(|_| Refusal::not_json())?;
        Ok((bytes, value))
    }

    fn check((bytes, value): Self::Raw) -> Result<Original<T>, Rejected> {
        Ok(Original { body: schema_check::parse(value)?, bytes })
    }

    fn describe(operation: &mut Operation, generator: &mut SchemaGenerator) {
        operation.body::<T>("application/json", generator);
        json::describe_refusals(operation, generator);
    }
}
