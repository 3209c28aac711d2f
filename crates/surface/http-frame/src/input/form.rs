//! Multipart forms: text fields checked like bodies, and files beside them.

use std::time::Duration;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use bytes::{Bytes, BytesMut};
use multer::{Constraints, Field, Multipart, SizeLimit};
use schema_check::CompiledSchema;
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;

use crate::input::{BodyLimits, HandlerInput, InputRejection, query};
use crate::operation::OpenApiOperation;
use crate::refusal::Refusal;

/// The specification's cap for a file.
pub const FILE_BYTES_MAX: usize = 25 * 1024 * 1024;
/// Limit for text fields, which are options and prompts, not documents.
const FIELD_BYTES_MAX: usize = 1024 * 1024;
const PARTS_MAX: usize = 64;

/// A form whose fields have passed their published schema.
#[derive(Debug)]
pub struct MultipartForm<T> {
    pub fields: T,
    pub files: Vec<UploadedFile>,
}

/// An uploaded file. Its name is chosen by the caller and not trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadedFile {
    pub field: String,
    pub file_name: String,
    pub bytes: Bytes,
}

/// The parts of a form before they are checked.
#[derive(Debug, Default)]
pub struct RawForm {
    pairs: Vec<(String, String)>,
    files: Vec<UploadedFile>,
}

impl<T: JsonSchema + DeserializeOwned + Send + 'static> HandlerInput for MultipartForm<T> {
    type Raw = RawForm;

    async fn read(parts: &mut Parts, body: Body, limits: BodyLimits) -> Result<RawForm, Refusal> {
        let content_type = parts.headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let boundary = content_type.and_then(|text| multer::parse_boundary(text).ok());
        let boundary = boundary.ok_or_else(|| {
            let message = "Invalid request content-type. Send multipart/form-data.";
            Refusal::wrong_content_type(message)
        })?;
        let whole = SizeLimit::new().whole_stream(limits.bytes_max as u64);
        let constraints = Constraints::new().size_limit(whole);
        let stream = body.into_data_stream();
        let mut multipart = Multipart::with_constraints(stream, boundary, constraints);
        let mut form = RawForm::default();
        let mut count = 0;
        while let Some(field) = with_pause_timeout(limits.pause_max, multipart.next_field()).await?
        {
            count += 1;
            if PARTS_MAX < count {
                let message = format!("A form may have at most {PARTS_MAX} parts.");
                return Err(Refusal::bad_request("Too many form parts", message));
            }
            form.add(field, limits.pause_max).await?;
        }
        Ok(form)
    }

    fn check(raw: RawForm) -> Result<MultipartForm<T>, InputRejection> {
        let fields = CompiledSchema::for_type::<T>().coerce_pairs(raw.pairs);
        Ok(MultipartForm { fields: schema_check::check_and_parse(fields)?, files: raw.files })
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        operation.body::<T>("multipart/form-data", generator);
        query::describe_refusals(operation, generator);
        operation.standard_refusal(408, "The body did not arrive in time", generator);
        operation.refusal::<wire::errors::PayloadTooLarge>(413, "The file is too large", generator);
        operation.standard_refusal(413, "The form is too large", generator);
        operation.standard_refusal(415, "The body is not a form", generator);
    }
}

impl RawForm {
    /// True if the form has a file or a text of this name, with or without `[]`.
    pub(super) fn has_field(&self, field: &str) -> bool {
        let names = self.pairs.iter().map(|(name, _)| name);
        let mut names = names.chain(self.files.iter().map(|file| &file.field));
        names.any(|name| name.trim_end_matches("[]") == field)
    }

    async fn add(&mut self, mut field: Field<'_>, pause_max: Duration) -> Result<(), Refusal> {
        let name = field.name().unwrap_or_default().to_owned();
        let file_name = field.file_name().map(str::to_owned);
        let bytes_max = if file_name.is_some() { FILE_BYTES_MAX } else { FIELD_BYTES_MAX };
        let mut bytes = BytesMut::new();
        let mut is_too_large = false;
        while let Some(chunk) = with_pause_timeout(pause_max, field.chunk()).await? {
            is_too_large |= bytes_max < bytes.len() + chunk.len();
            // Many clients read no response before they have sent everything, so the rest is read,
            // up to the limit of the whole form, and discarded.
            if !is_too_large {
                bytes.extend_from_slice(&chunk);
            }
        }
        if is_too_large {
            return Err(match file_name {
                Some(_) => Refusal::file_too_large(),
                None => Refusal::body_too_large(),
            });
        }
        let bytes = bytes.freeze();
        if let Some(file_name) = file_name {
            self.files.push(UploadedFile { field: name, file_name, bytes });
            return Ok(());
        }
        let text = String::from_utf8(bytes.to_vec()).map_err(|_| {
            let message = format!("The form field {name} is not UTF-8 text.");
            Refusal::bad_request("Invalid form", message)
        })?;
        self.pairs.push((name, text));
        Ok(())
    }
}

/// Waits for the next piece of a form, for at most `pause_max`.
async fn with_pause_timeout<T>(
    pause_max: Duration,
    piece: impl Future<Output = multer::Result<T>>,
) -> Result<T, Refusal> {
    let arrived = tokio::time::timeout(pause_max, piece).await;
    arrived.map_err(|_| Refusal::too_slow())?.map_err(|error| match error {
        // Text fields have their own limits, so a form over the total has too large a file.
        multer::Error::StreamSizeExceeded { .. } => Refusal::file_too_large(),
        _ => Refusal::bad_request("Invalid form", "The form is malformed or was cut short."),
    })
}

#[cfg(test)]
mod tests;
