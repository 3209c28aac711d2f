//! The body of a request, parsed and byte for byte, with the protocol's own headers.

use std::marker::PhantomData;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
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
use wire::messages::{MessagesRequest, TokenCountRequest};

/// Begins the names of the protocol's headers.
const HEADER_PREFIX: &str = "anthropic-";
/// Headers that are read; clients send three or four.
const HEADERS_MAX: usize = 32;
/// Bytes of a body whose tokens are counted, which is free: a million tokens of text. Agents count
/// parts of a conversation, of a few hundred kilobytes at most.
const COUNT_BYTES_MAX: usize = 4 * 1024 * 1024;
const COUNT_TOO_LARGE: &str = "The request is larger than 4 MiB, the maximum for counting tokens.";

/// A request whose body has a maximum of its own.
pub(super) trait BoundedRequest {
    const BYTES_MAX: usize;

    /// The refusal of a larger body.
    fn refuse_size() -> Refusal;
}

impl BoundedRequest for MessagesRequest {
    const BYTES_MAX: usize = BodyLimits::TRUSTED.bytes_max;

    fn refuse_size() -> Refusal {
        Refusal::body_too_large()
    }
}

impl BoundedRequest for TokenCountRequest {
    const BYTES_MAX: usize = COUNT_BYTES_MAX;

    fn refuse_size() -> Refusal {
        Refusal::body_larger_than(COUNT_TOO_LARGE)
    }
}

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

impl<T> HandlerInput for MessagesBody<T>
where
    T: BoundedRequest + JsonSchema + DeserializeOwned + Send + 'static,
{
    type Raw = UncheckedMessages<T>;

    async fn read(parts: &mut Parts, body: Body, limits: BodyLimits) -> Result<Self::Raw, Refusal> {
        check_content_type(&parts.headers)?;
        let headers = list_headers(&parts.headers);
        let limits = BodyLimits { bytes_max: limits.bytes_max.min(T::BYTES_MAX), ..limits };
        let read = read_body(&parts.headers, body, limits).await;
        let bytes = read.map_err(|refusal| match refusal.status() {
            StatusCode::PAYLOAD_TOO_LARGE => T::refuse_size(),
            _ => refusal,
        })?;
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
