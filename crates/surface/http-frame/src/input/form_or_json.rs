//! Input as a multipart form with files, or as JSON with the same fields.

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use schema_check::{ValidationFault, ValidationFaults};
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;
use wire::chat::InferenceRejection;
use wire::file_fields::FileFields;

use crate::input::form::{MultipartForm, RawForm};
use crate::input::{BodyLimits, HandlerInput, InputRejection, JsonBody};
use crate::operation::OpenApiOperation;
use crate::refusal::Refusal;

/// A form, or a JSON body without files, whose fields have passed their published schema.
#[derive(Debug)]
pub struct FormOrJson<T>(pub MultipartForm<T>);

#[derive(Debug)]
pub enum RawFormOrJson {
    Form(RawForm),
    Json(Value),
}

impl<T: FileFields + JsonSchema + DeserializeOwned + Send + 'static> HandlerInput
    for FormOrJson<T>
{
    type Raw = RawFormOrJson;

    async fn read(
        parts: &mut Parts,
        body: Body,
        limits: BodyLimits,
    ) -> Result<RawFormOrJson, Refusal> {
        let content_type = parts.headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let is_form = content_type.is_some_and(|it| {
            it.trim_start().get(..10).is_some_and(|it| it.eq_ignore_ascii_case("multipart/"))
        });
        if is_form {
            return MultipartForm::<T>::read(parts, body, limits).await.map(RawFormOrJson::Form);
        }
        JsonBody::<T>::read(parts, body, limits).await.map(RawFormOrJson::Json)
    }

    fn check(raw: RawFormOrJson) -> Result<FormOrJson<T>, InputRejection> {
        let missing = missing_file::<T>(&raw);
        let checked = match raw {
            RawFormOrJson::Form(raw) => MultipartForm::check(raw),
            RawFormOrJson::Json(raw) => JsonBody::check(raw)
                .map(|JsonBody(fields)| MultipartForm { fields, files: Vec::new() }),
        };
        let Some(field) = missing else { return checked.map(FormOrJson) };
        let mut faults = ValidationFaults::one([field], ValidationFault::missing("string"));
        match checked {
            Err(InputRejection::Faults(others)) => faults.merge(others),
            Err(disagrees @ InputRejection::SchemaDisagrees(_)) => return Err(disagrees),
            Ok(_) => {}
        }
        Err(InputRejection::Faults(faults))
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        MultipartForm::<T>::describe(operation, generator);
        JsonBody::<T>::describe(operation, generator);
        let meaning = "The model's engine rejected the request";
        operation.refusal::<InferenceRejection>(400, meaning, generator);
    }
}

/// The name of the required file field, if none was sent.
fn missing_file<T: FileFields>(raw: &RawFormOrJson) -> Option<&'static str> {
    let is_sent = |field: &&'static str| match raw {
        RawFormOrJson::Form(form) => form.has_field(field),
        RawFormOrJson::Json(Value::Object(fields)) => {
            fields.get(*field).is_some_and(|it| !it.is_null())
        }
        // Not an object: the schema check reports that.
        RawFormOrJson::Json(_) => true,
    };
    let first = T::REQUIRED_ANY.first().copied();
    first.filter(|_| !T::REQUIRED_ANY.iter().any(is_sent))
}
