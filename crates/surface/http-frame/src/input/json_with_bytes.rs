//! JSON bodies that are checked and also kept byte for byte, to recognise a repeated request.

use axum::body::Body;
use axum::http::request::Parts;
use bytes::Bytes;
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::input::{BodyLimits, HandlerInput, InputRejection, body, json};
use crate::operation::OpenApiOperation;
use crate::refusal::Refusal;

/// A body that has passed its published schema, with its original bytes.
#[derive(Debug)]
pub struct JsonWithBytes<T> {
    pub body: T,
    pub bytes: Bytes,
}

/// A body that is parsed and not checked yet, with its original bytes.
#[derive(Debug)]
pub struct UncheckedJson {
    value: Value,
    bytes: Bytes,
}

impl<T: JsonSchema + DeserializeOwned + Send + 'static> HandlerInput for JsonWithBytes<T> {
    type Raw = UncheckedJson;

    async fn read(parts: &mut Parts, body: Body, limits: BodyLimits) -> Result<Self::Raw, Refusal> {
        json::check_content_type(&parts.headers)?;
        let bytes = body::read_body(&parts.headers, body, limits).await?;
        let value = serde_json::from_slice(&bytes).map_err(|_| Refusal::not_json())?;
        Ok(UncheckedJson { value, bytes })
    }

    fn check(raw: UncheckedJson) -> Result<JsonWithBytes<T>, InputRejection> {
        let body = schema_check::check_and_parse(raw.value)?;
        Ok(JsonWithBytes { body, bytes: raw.bytes })
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        operation.body::<T>("application/json", generator);
        json::describe_refusals(operation, generator);
    }
}
