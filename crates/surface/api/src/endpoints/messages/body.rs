//! The body of a request, parsed and byte for byte, with the protocol's own headers.

use std::marker::PhantomData;

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use bytes::Bytes;
use engine::NativeHeader;
use http_frame::input::{
    BodyLimits, HandlerInput, InputRejection, JsonBody, LARGE_BYTES, check_content_type, read_body,
    run_blocking,
};
use http_frame::operation::OpenApiOperation;
use http_frame::refusal::Refusal;
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Begins the names of the protocol's headers.
const HEADER_PREFIX: &str = "anthropic-";
/// Headers that are read; clients send three or four.
const HEADERS_MAX: usize = 32;

pub(super) struct MessagesBody<T> {
    pub(super) request: T,
    pub(super) bytes: Bytes,
    pub(super) headers: Vec<NativeHeader>,
}

/// A body that is parsed and not checked yet.
pub(super) struct UncheckedMessages<T> {
    value: Value,
    bytes: Bytes,
    headers: Vec<NativeHeader>,
    described_by: PhantomData<fn() -> T>,
}

impl<T: JsonSchema + DeserializeOwned + Send + 'static> HandlerInput for MessagesBody<T> {
    type Raw = UncheckedMessages<T>;

    async fn read(parts: &mut Parts, body: Body, limits: BodyLimits) -> Result<Self::Raw, Refusal> {
        check_content_type(&parts.headers)?;
        let headers = list_headers(&parts.headers);
        let bytes = read_body(&parts.headers, body, limits).await?;
        let (is_large, text) = (LARGE_BYTES <= bytes.len(), bytes.clone());
        let parse = move || serde_json::from_slice(&text).map_err(|_| Refusal::not_json());
        let value = if is_large { run_blocking(parse).await? } else { parse() }?;
        Ok(UncheckedMessages { value, bytes, headers, described_by: PhantomData })
    }

    fn check(raw: Self::Raw) -> Result<MessagesBody<T>, InputRejection> {
        let request = schema_check::check_and_parse(raw.value)?;
        Ok(MessagesBody { request, bytes: raw.bytes, headers: raw.headers })
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        JsonBody::<T>::describe(operation, generator);
    }
}

fn list_headers(headers: &HeaderMap) -> Vec<NativeHeader> {
    let known = headers.iter().filter(|(name, _)| name.as_str().starts_with(HEADER_PREFIX));
    let read = known.filter_map(|(name, value)| {
        let value = value.to_str().ok()?.to_owned();
        Some(NativeHeader { name: name.as_str().to_owned(), value })
    });
    read.take(HEADERS_MAX).collect()
}
