//! Query strings, checked like bodies.

use axum::body::Body;
use axum::http::request::Parts;
use schema_check::Shape;
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::form_urlencoded;

use crate::input::{BodyLimits, Input, Rejected};
use crate::operation::{Operation, ParameterLocation};
use crate::refusal::Refusal;

/// The fields of the query string, after they have passed their published schema.
#[derive(Debug)]
pub struct Query<T>(pub T);

impl<T: JsonSchema + DeserializeOwned + Send + 'static> Input for Query<T> {
    type Raw = Value;

    async fn read(parts: &mut Parts, _: Body, _: BodyLimits) -> Result<Value, Refusal> {
        read::<T>(parts)
    }

    fn check(raw: Value) -> Result<Query<T>, Rejected> {
        Ok(Query(schema_check::parse(raw)?))
    }

    fn describe(operation: &mut Operation, generator: &mut SchemaGenerator) {
        operation.parameters::<T>(ParameterLocation::Query, generator);
        describe_refusals(operation, generator);
    }
}

/// The query string as the JSON object that its schema describes.
pub(super) fn read<T: JsonSchema + 'static>(parts: &Parts) -> Result<Value, Refusal> {
    let query = parts.uri.query().unwrap_or_default();
    let pairs = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    Ok(Shape::of::<T>().coerce(pairs))
}

pub(super) fn describe_refusals(operation: &mut Operation, generator: &mut SchemaGenerator) {
    operation.refusal::<wire::errors::ValidationError>(400, "The request is not valid", generator);
    operation.standard_refusal(400, "The request could not be read", generator);
    operation.standard_refusal(414, "The address is too long", generator);
    operation.standard_refusal(431, "The address and the headers are too long", generator);
}
