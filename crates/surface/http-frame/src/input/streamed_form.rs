//! Multipart forms whose file is not kept in memory: the handler reads the parts as they arrive.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::request::Parts;
use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::{BoxStream, StreamExt, unfold};
use multer::{Constraints, Field, Multipart, SizeLimit};
use schema_check::CompiledSchema;
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;

use crate::input::{BodyLimits, HandlerInput, InputRejection, query};
use crate::operation::OpenApiOperation;
use crate::refusal::Refusal;

/// Bytes of a form besides its file.
const OVERHEAD_BYTES_MAX: u64 = 64 * 1024;
/// Bytes of a text field, which is an option.
const FIELD_BYTES_MAX: usize = 4 * 1024;
const PARTS_MAX: usize = 16;
/// The largest file that a service may be configured to take.
pub const STREAMED_FILE_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// A form that is still arriving. `T` describes its text fields.
pub struct StreamedForm<T> {
    multipart: Multipart<'static>,
    pause_max: Duration,
    parts: usize,
    pairs: Vec<(String, String)>,
    fault: Arc<OnceLock<FormFault>>,
    described_by: PhantomData<fn() -> T>,
}

/// Is not ready after each piece. The parser of forms reads a stream for as long as it is ready, and
/// would have the whole file of a fast caller in memory.
struct OnePieceAtOnce {
    pieces: BodyDataStream,
    is_resting: bool,
}

impl Stream for OnePieceAtOnce {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if std::mem::take(&mut self.is_resting) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let next = Pin::new(&mut self.pieces).poll_next(context);
        self.is_resting = matches!(next, Poll::Ready(Some(_)));
        next
    }
}

/// A file of a form, to be read to its end before the next part.
pub struct StreamedFile {
    /// The name of the field.
    pub field: String,
    /// Chosen by the caller and not trusted.
    pub file_name: String,
    pub bytes: BoxStream<'static, Result<Bytes, FormFault>>,
}

/// The reason why a form broke off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormFault {
    TooSlow,
    TooLarge,
    Malformed,
}

impl fmt::Display for FormFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FormFault::TooSlow => "the form did not arrive in time",
            FormFault::TooLarge => "the form is too large",
            FormFault::Malformed => "the form is malformed or was cut short",
        })
    }
}

impl FormFault {
    fn to_refusal(self) -> Refusal {
        match self {
            FormFault::TooSlow => Refusal::too_slow(),
            FormFault::TooLarge => Refusal::body_too_large(),
            FormFault::Malformed => {
                let message = "The form is malformed or was cut short.";
                Refusal::bad_request("Invalid form", message)
            }
        }
    }
}

impl<T: JsonSchema + DeserializeOwned + Send + 'static> HandlerInput for StreamedForm<T> {
    type Raw = StreamedForm<T>;
    const IS_STREAMED: bool = true;

    async fn read(
        parts: &mut Parts,
        body: Body,
        limits: BodyLimits,
    ) -> Result<StreamedForm<T>, Refusal> {
        let content_type = parts.headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let boundary = content_type.and_then(|text| multer::parse_boundary(text).ok());
        let boundary = boundary.ok_or_else(|| {
            let message = "Invalid request content-type. Send multipart/form-data.";
            Refusal::wrong_content_type(message)
        })?;
        let bytes_max = STREAMED_FILE_BYTES_MAX + OVERHEAD_BYTES_MAX;
        let announced = parts.headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok());
        if announced.and_then(|it| it.parse().ok()).is_some_and(|bytes: u64| bytes_max < bytes) {
            return Err(Refusal::body_too_large());
        }
        let constraints = Constraints::new().size_limit(SizeLimit::new().whole_stream(bytes_max));
        let stream = OnePieceAtOnce { pieces: body.into_data_stream(), is_resting: false };
        Ok(StreamedForm {
            multipart: Multipart::with_constraints(stream, boundary, constraints),
            pause_max: limits.pause_max,
            parts: 0,
            pairs: Vec::new(),
            fault: Arc::default(),
            described_by: PhantomData,
        })
    }

    fn check(raw: StreamedForm<T>) -> Result<StreamedForm<T>, InputRejection> {
        Ok(raw)
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        operation.body::<T>("multipart/form-data", generator);
        query::describe_refusals(operation, generator);
        operation.standard_refusal(408, "The body did not arrive in time", generator);
        operation.standard_refusal(413, "The file is too large", generator);
        operation.standard_refusal(415, "The body is not a form", generator);
    }
}

impl<T: JsonSchema + DeserializeOwned + Send + 'static> StreamedForm<T> {
    /// The next file; the text fields before it are kept. `None` at the end of the form.
    pub async fn next_file(&mut self) -> Result<Option<StreamedFile>, Refusal> {
        loop {
            let next = tokio::time::timeout(self.pause_max, self.multipart.next_field()).await;
            let next = next.map_err(|_| Refusal::too_slow())?;
            let Some(field) = next.map_err(|error| name_fault(&error).to_refusal())? else {
                return Ok(None);
            };
            self.parts += 1;
            if PARTS_MAX < self.parts {
                let message = format!("A form may have at most {PARTS_MAX} parts.");
                return Err(Refusal::bad_request("Too many form parts", message));
            }
            let name = field.name().unwrap_or_default().to_owned();
            match field.file_name().map(str::to_owned) {
                Some(file_name) => {
                    let bytes = self.stream_field(field);
                    return Ok(Some(StreamedFile { field: name, file_name, bytes }));
                }
                None => self.add_text(name, field).await?,
            }
        }
    }

    /// The refusal of a form that broke off while a file was read.
    pub fn find_fault(&self) -> Option<Refusal> {
        self.fault.get().map(|fault| fault.to_refusal())
    }

    /// The text fields, checked. Called at the end of the form.
    pub fn finish(self) -> Result<T, Refusal> {
        let fields = CompiledSchema::for_type::<T>().coerce_pairs(self.pairs);
        let checked = schema_check::check_and_parse(fields).map_err(InputRejection::from);
        checked.map_err(Refusal::from)
    }

    async fn add_text(&mut self, name: String, mut field: Field<'static>) -> Result<(), Refusal> {
        let mut bytes = Vec::new();
        loop {
            let chunk = tokio::time::timeout(self.pause_max, field.chunk()).await;
            let chunk = chunk.map_err(|_| Refusal::too_slow())?;
            let Some(chunk) = chunk.map_err(|error| name_fault(&error).to_refusal())? else {
                break;
            };
            if FIELD_BYTES_MAX < bytes.len() + chunk.len() {
                return Err(Refusal::body_too_large());
            }
            bytes.extend_from_slice(&chunk);
        }
        let text = String::from_utf8(bytes).map_err(|_| {
            let message = format!("The form field {name} is not UTF-8 text.");
            Refusal::bad_request("Invalid form", message)
        })?;
        self.pairs.push((name, text));
        Ok(())
    }

    fn stream_field(&self, field: Field<'static>) -> BoxStream<'static, Result<Bytes, FormFault>> {
        let (fault, pause_max) = (Arc::clone(&self.fault), self.pause_max);
        unfold(Some(field), move |field| {
            let fault = Arc::clone(&fault);
            async move {
                let mut field = field?;
                let found = match tokio::time::timeout(pause_max, field.chunk()).await {
                    Err(_) => FormFault::TooSlow,
                    Ok(Err(error)) => name_fault(&error),
                    Ok(Ok(None)) => return None,
                    Ok(Ok(Some(chunk))) => return Some((Ok(chunk), Some(field))),
                };
                let _ = fault.set(found);
                Some((Err(found), None))
            }
        })
        .boxed()
    }
}

fn name_fault(error: &multer::Error) -> FormFault {
    match error {
        multer::Error::StreamSizeExceeded { .. } => FormFault::TooLarge,
        _ => FormFault::Malformed,
    }
}
