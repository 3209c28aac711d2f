//! The successful responses of handlers.

pub mod audio;
pub mod document_text;
pub mod file_content;
pub mod image;
pub mod media;
pub mod queued_job;
pub mod transcript;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::Response;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;

use crate::operation::OpenApiOperation;
use crate::refusal::Refusal;

/// Usual number of headers of a response, so that the header map is allocated once.
pub const HEADERS_USUAL: usize = 24;

/// A response that describes itself in the OpenAPI document.
pub trait HandlerReply: Send {
    fn into_response(self) -> Result<Response, Refusal>;
    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator);
}

/// A body with additional headers. As a [`HandlerReply`] it is sent as JSON.
#[derive(Debug)]
pub struct WithHeaders<T> {
    pub body: T,
    pub headers: HeaderMap,
}

/// A list as JSON, or as CSV with `Accept: text/csv`.
#[derive(Debug)]
pub enum TableReply<T> {
    Json(WithHeaders<T>),
    Csv(WithHeaders<CsvFile>),
}

/// A CSV file to download.
#[derive(Debug)]
pub struct CsvFile {
    pub file_name: String,
    pub text: String,
}

impl<T> WithHeaders<T> {
    pub fn new(body: T) -> WithHeaders<T> {
        WithHeaders { body, headers: HeaderMap::with_capacity(HEADERS_USUAL) }
    }

    /// Adds a header. An invalid value is left out: headers repeat what the body says, and an
    /// unusual name in the catalogue must not fail a request.
    pub fn header(mut self, name: &'static str, value: impl ToString) -> WithHeaders<T> {
        if let Ok(value) = HeaderValue::try_from(value.to_string()) {
            self.headers.insert(HeaderName::from_static(name), value);
        }
        self
    }
}

impl<T> WithHeaders<T> {
    /// Adds a header if it is not set yet.
    pub(crate) fn header_if_absent(self, name: &'static str, value: String) -> WithHeaders<T> {
        if self.headers.contains_key(name) { self } else { self.header(name, value) }
    }

    pub(crate) fn into_headers(self) -> HeaderMap {
        self.headers
    }
}

impl<T: Serialize + JsonSchema + Send> HandlerReply for WithHeaders<T> {
    fn into_response(self) -> Result<Response, Refusal> {
        let body = serde_json::to_vec(&self.body).map_err(Refusal::internal)?;
        Ok(build_response(body.into(), self.headers, "application/json"))
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        operation.reply::<T>(generator);
    }
}

impl<T: Serialize + JsonSchema + Send> HandlerReply for TableReply<T> {
    fn into_response(self) -> Result<Response, Refusal> {
        let csv = match self {
            TableReply::Json(answer) => return answer.into_response(),
            TableReply::Csv(answer) => answer,
        };
        let attachment = format!("attachment; filename=\"{}\"", csv.body.file_name);
        let csv = csv.header("content-disposition", attachment);
        Ok(build_response(csv.body.text.into(), csv.headers, "text/csv; charset=utf-8"))
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        operation.reply::<T>(generator);
        operation.text_reply("text/csv");
    }
}

/// A response with serialised JSON, for routes that are not in the OpenAPI document.
pub fn respond_json(body: impl Into<Body>) -> Response {
    build_response(body.into(), HeaderMap::new(), "application/json")
}

pub fn build_response(body: Body, headers: HeaderMap, content_type: &'static str) -> Response {
    let mut response = Response::new(body);
    *response.headers_mut() = headers;
    let content_type = HeaderValue::from_static(content_type);
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}
