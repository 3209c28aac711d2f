//! JSON bodies.

use std::any::Any;

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::request::Parts;
use bytes::Bytes;
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::input::{BodyLimits, HandlerInput, InputRejection, body, query};
use crate::operation::{OpenApiOperation, ParameterLocation};
use crate::refusal::Refusal;

/// Bodies from this size on take a millisecond or more to parse and check.
pub const LARGE_BYTES: usize = 256 * 1024;

/// A JSON body that has passed its published schema.
#[derive(Debug)]
pub struct JsonBody<T>(pub T);

impl<T: JsonSchema + DeserializeOwned + Send + 'static> HandlerInput for JsonBody<T> {
    type Raw = Value;

    async fn read(parts: &mut Parts, body: Body, limits: BodyLimits) -> Result<Value, Refusal> {
        check_content_type(&parts.headers)?;
        let bytes = body::read_body(&parts.headers, body, limits).await?;
        parse_body(bytes).await
    }

    fn check(raw: Value) -> Result<JsonBody<T>, InputRejection> {
        Ok(JsonBody(schema_check::check_and_parse(raw)?))
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        operation.body::<T>("application/json", generator);
        describe_refusals(operation, generator);
    }
}

/// Fields in the query string or in a JSON body: some clients cannot send a body with `DELETE`.
#[derive(Debug)]
pub struct QueryOrJson<T>(pub T);

impl<T: JsonSchema + DeserializeOwned + Send + 'static> HandlerInput for QueryOrJson<T> {
    type Raw = Value;

    async fn read(parts: &mut Parts, body: Body, limits: BodyLimits) -> Result<Value, Refusal> {
        let bytes = body::read_body(&parts.headers, body, limits).await?;
        if bytes.is_empty() {
            return query::read_query::<T>(parts);
        }
        if parts.uri.query().is_some_and(|query| !query.is_empty()) {
            let message = "Send the fields in the query string or in a JSON body, not in both.";
            return Err(Refusal::bad_request("fields_twice", message));
        }
        check_content_type(&parts.headers)?;
        parse_body(bytes).await
    }

    fn check(raw: Value) -> Result<QueryOrJson<T>, InputRejection> {
        Ok(QueryOrJson(schema_check::check_and_parse(raw)?))
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        operation.parameters::<T>(ParameterLocation::Query, generator);
        operation.optional_body::<T>(generator);
        operation.make_parameters_optional();
        describe_refusals(operation, generator);
    }
}

/// Parses a body. A large one is parsed on a blocking thread, so as not to delay other requests.
async fn parse_body(bytes: Bytes) -> Result<Value, Refusal> {
    let is_large = LARGE_BYTES <= bytes.len();
    let parse = move || serde_json::from_slice(&bytes).map_err(|_| Refusal::not_json());
    if is_large { run_blocking(parse).await? } else { parse() }
}

/// Runs work for a large body on a blocking thread.
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    // One type of closure and result, so that tokio's task code is compiled once.
    let work: Box<dyn FnOnce() -> Box<dyn Any + Send> + Send> = Box::new(move || Box::new(work()));
    let done = tokio::task::spawn_blocking(work).await.map_err(Refusal::internal)?;
    Ok(*done.downcast().expect("the work gives what it was declared to give"))
}

pub(super) fn describe_refusals(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
    query::describe_refusals(operation, generator);
    operation.standard_refusal(408, "The body did not arrive in time", generator);
    operation.standard_refusal(413, "The body is too large", generator);
    operation.standard_refusal(415, "The body is not JSON", generator);
}

/// A missing content type counts as JSON.
pub fn check_content_type(headers: &HeaderMap) -> Result<(), Refusal> {
    if let Some(encoding) = headers.get(CONTENT_ENCODING)
        && encoding != "identity"
    {
        let message = "Send the body without Content-Encoding.";
        return Err(Refusal::wrong_content_type(message));
    }
    let Some(content_type) = headers.get(CONTENT_TYPE) else { return Ok(()) };
    if content_type == "application/json" {
        return Ok(());
    }
    let text = content_type.to_str().unwrap_or("");
    let essence = text.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    let is_json = essence == "application/json"
        || (essence.starts_with("application/") && essence.ends_with("+json"));
    if is_json {
        return Ok(());
    }
    Err(Refusal::wrong_content_type("Invalid request content-type. Send application/json."))
}
