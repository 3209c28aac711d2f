//! Query strings, checked like bodies.

use axum::body::Body;
use axum::http::request::Parts;
use schema_check::CompiledSchema;
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::form_urlencoded;

use crate::input::{BodyLimits, HandlerInput, InputRejection};
use crate::operation::{OpenApiOperation, ParameterLocation};
use crate::refusal::Refusal;

/// The fields of the query string, after they have passed their published schema.
#[derive(Debug)]
pub struct QueryParameters<T>(pub T);

impl<T: JsonSchema + DeserializeOwned + Send + 'static> HandlerInput for QueryParameters<T> {
    type Raw = Value;

    async fn read(parts: &mut Parts, _: Body, _: BodyLimits) -> Result<Value, Refusal> {
        read_query::<T>(parts)
    }

    fn check(raw: Value) -> Result<QueryParameters<T>, InputRejection> {
        Ok(QueryParameters(schema_check::check_and_parse(raw)?))
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        operation.parameters::<T>(ParameterLocation::Query, generator);
        describe_refusals(operation, generator);
    }
}

/// The query string as the JSON object that its schema describes.
pub(super) fn read_query<T: JsonSchema + 'static>(parts: &Parts) -> Result<Value, Refusal> {
    let query = parts.uri.query().unwrap_or_default();
    let pairs = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    Ok(CompiledSchema::for_type::<T>().coerce_pairs(pairs))
}

pub(super) fn describe_refusals(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
    operation.refusal::<wire::errors::ValidationError>(400, "The request is invalid", generator);
    operation.standard_refusal(400, "The request could not be read", generator);
    operation.standard_refusal(414, "The URL is too long", generator);
    operation.standard_refusal(431, "The URL and the headers together are too long", generator);
}
