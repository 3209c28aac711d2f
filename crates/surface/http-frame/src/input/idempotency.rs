//! The `Idempotency-Key` header.

use axum::body::Body;
use axum::http::HeaderName;
use axum::http::request::Parts;
use rpc::idempotency::{BadIdempotencyKey, IdempotencyKey};
use schema_check::ValidationFaults;
use schemars::SchemaGenerator;
use serde_json::json;

use crate::input::{BodyLimits, HandlerInput, InputRejection};
use crate::operation::OpenApiOperation;
use crate::refusal::Refusal;

const HEADER: &str = "Idempotency-Key";
/// The same name, parsed once instead of for each request.
static NAME: HeaderName = HeaderName::from_static("idempotency-key");

/// The `Idempotency-Key`. A repeated request with the same key gets the stored response again.
#[derive(Debug)]
pub struct IdempotencyHeader(pub Option<IdempotencyKey>);

impl HandlerInput for IdempotencyHeader {
    type Raw = Result<Option<IdempotencyKey>, BadIdempotencyKey>;

    async fn read(parts: &mut Parts, _: Body, _: BodyLimits) -> Result<Self::Raw, Refusal> {
        let mut values = parts.headers.get_all(&NAME).iter();
        let Some(value) = values.next() else { return Ok(Ok(None)) };
        if values.next().is_some() {
            return Ok(Err(BadIdempotencyKey));
        }
        let key = value.to_str().map_err(|_| BadIdempotencyKey).and_then(IdempotencyKey::parse);
        Ok(key.map(Some))
    }

    fn check(raw: Self::Raw) -> Result<IdempotencyHeader, InputRejection> {
        raw.map(IdempotencyHeader).map_err(|bad| {
            let mut faults = ValidationFaults::default();
            faults.at([HEADER]).push(bad.to_string());
            InputRejection::Faults(faults)
        })
    }

    fn describe(operation: &mut OpenApiOperation, _: &mut SchemaGenerator) {
        operation.header(
            HEADER,
            "The same request with the same key within 24 hours is answered again without being \
             run or charged again.",
            json!({ "type": "string", "pattern": "^[A-Za-z0-9_-]{1,255}$" }),
        );
    }
}
