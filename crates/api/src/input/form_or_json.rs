//! The same fields as a form, with files beside them, or as JSON.

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;
use wire::chat::InferenceRejection;

use crate::input::form::{Form, RawForm};
use crate::input::{BodyLimits, Input, Json, Rejected};
use crate::operation::Operation;
use crate::refusal::Refusal;

/// A form, or a JSON body without files, whose fields have passed their published schema.
#[derive(Debug)]
pub struct FormOrJson<T>(pub Form<T>);

#[derive(Debug)]
pub enum RawFormOrJson {
    Form(RawForm),
    Json(Value),
}

impl<T: JsonSchema + DeserializeOwned + Send + 'static> Input for FormOrJson<T> {
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
            return Form::<T>::read(parts, body, limits).await.map(RawFormOrJson::Form);
        }
        Json::<T>::read(parts, body, limits).await.map(RawFormOrJson::Json)
    }

    fn check(raw: RawFormOrJson) -> Result<FormOrJson<T>, Rejected> {
        match raw {
            RawFormOrJson::Form(raw) => Form::check(raw).map(FormOrJson),
            RawFormOrJson::Json(raw) => {
                let Json(fields) = Json::check(raw)?;
                Ok(FormOrJson(Form { fields, files: Vec::new() }))
            }
        }
    }

    fn describe(operation: &mut Operation, generator: &mut SchemaGenerator) {
        Form::<T>::describe(operation, generator);
        Json::<T>::describe(operation, generator);
        let meaning = "The model's engine rejected the request";
        operation.refusal::<InferenceRejection>(400, meaning, generator);
    }
}
