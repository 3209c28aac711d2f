//! The variable parts of a path, checked like bodies.

use axum::body::Body;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use schema_check::CompiledSchema;
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::input::{BodyLimits, HandlerInput, InputRejection, query};
use crate::operation::{OpenApiOperation, ParameterLocation};
use crate::refusal::Refusal;

/// The parameters of the path, after they have passed their published schema.
#[derive(Debug)]
pub struct PathParameters<T>(pub T);

impl<T: JsonSchema + DeserializeOwned + Send + 'static> HandlerInput for PathParameters<T> {
    type Raw = Value;

    async fn read(parts: &mut Parts, _: Body, _: BodyLimits) -> Result<Value, Refusal> {
        let params = RawPathParams::from_request_parts(parts, &()).await.map_err(|_| {
            let message = "The path is not valid. Percent-encode it as UTF-8.";
            Refusal::bad_request("Invalid path", message)
        })?;
        let pairs = params.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        Ok(CompiledSchema::for_type::<T>().coerce_distinct(pairs))
    }

    fn check(raw: Value) -> Result<PathParameters<T>, InputRejection> {
        Ok(PathParameters(schema_check::check_and_parse(raw)?))
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        operation.parameters::<T>(ParameterLocation::Path, generator);
        query::describe_refusals(operation, generator);
    }
}
