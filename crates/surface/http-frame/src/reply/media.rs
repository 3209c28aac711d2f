//! Generated files, streamed.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use futures_util::Stream;
use jobs::ResultDownload;
use schemars::SchemaGenerator;
use wire::audio::InProgress;
use wire::errors::{AudioRejection, ContentPolicyError, GenerationFailed};

use super::{HandlerReply, WithHeaders};
use crate::operation::OpenApiOperation;
use crate::refusal::Refusal;

/// Called after the last byte of a file was sent.
pub type OnFileSent = Box<dyn FnOnce() + Send>;

/// A file to send.
pub struct FileReply {
    pub opened: ResultDownload,
    /// Without its extension.
    pub name: String,
    pub is_part: bool,
    pub afterwards: Option<OnFileSent>,
}

impl FileReply {
    pub fn into_response(self) -> Result<Response, Refusal> {
        let FileReply { opened, name, is_part, afterwards } = self;
        let ResultDownload { media, extension, range, bytes } = opened;
        let length = range.end - range.start;
        let mut headers = HeaderMap::new();
        let text = |value: String| HeaderValue::try_from(value).map_err(Refusal::internal);
        headers.insert(header::CONTENT_TYPE, text(media.content_type)?);
        headers.insert(header::CONTENT_LENGTH, length.into());
        let name = text(format!("attachment; filename=\"{name}.{extension}\""))?;
        headers.insert(header::CONTENT_DISPOSITION, name);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
        let no_sniffing = HeaderValue::from_static("nosniff");
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, no_sniffing);
        headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        if is_part {
            let place = format!("bytes {}-{}/{}", range.start, range.end - 1, media.bytes);
            headers.insert(header::CONTENT_RANGE, text(place)?);
        }
        let sending = SentBytesCounter { bytes, left: length, afterwards };
        let mut response = Response::new(Body::from_stream(sending));
        *response.headers_mut() = headers;
        if is_part {
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        }
        Ok(response)
    }
}

/// Counts the bytes handed to the connection. `afterwards` is not called if the file breaks off or
/// the client disconnects.
struct SentBytesCounter<S> {
    bytes: S,
    left: u64,
    afterwards: Option<OnFileSent>,
}

impl<S, E> Stream for SentBytesCounter<S>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
{
    type Item = Result<Bytes, E>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = Pin::new(&mut self.bytes).poll_next(context);
        if let Poll::Ready(Some(Ok(piece))) = &next {
            self.left = self.left.saturating_sub(piece.len() as u64);
        }
        next
    }
}

/// hyper drops a body when all of it was sent, or when the connection breaks.
impl<S> Drop for SentBytesCounter<S> {
    fn drop(&mut self) {
        if self.left == 0
            && let Some(afterwards) = self.afterwards.take()
        {
            afterwards();
        }
    }
}

/// The state of a job, or its file.
pub enum ProgressOrFile {
    InProgress(WithHeaders<InProgress>),
    File(Box<FileReply>),
}

/// The same with the headers of the model.
pub struct RetrievedJob {
    pub retrieved: ProgressOrFile,
    pub model_headers: HeaderMap,
}

/// Separate types for music and videos, whose OpenAPI descriptions differ.
pub struct RetrievedMusic(pub RetrievedJob);
pub struct RetrievedVideo(pub RetrievedJob);

impl RetrievedJob {
    fn into_response(self) -> Result<Response, Refusal> {
        let mut response = match self.retrieved {
            ProgressOrFile::InProgress(answer) => HandlerReply::into_response(answer)?,
            ProgressOrFile::File(sent) => sent.into_response()?,
        };
        response.headers_mut().extend(self.model_headers);
        Ok(response)
    }
}

impl HandlerReply for RetrievedMusic {
    fn into_response(self) -> Result<Response, Refusal> {
        self.0.into_response()
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        operation.reply::<InProgress>(generator);
        for content_type in ["audio/mpeg", "audio/wav", "audio/flac", "audio/ogg", "audio/mp4"] {
            operation.file_reply(content_type);
        }
        describe_failures::<AudioRejection>(operation, generator);
    }
}

impl HandlerReply for RetrievedVideo {
    fn into_response(self) -> Result<Response, Refusal> {
        self.0.into_response()
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        operation.reply::<InProgress>(generator);
        for content_type in VIDEO_TYPES {
            operation.file_reply(content_type);
        }
        describe_failures::<ContentPolicyError>(operation, generator);
    }
}

/// Some engines make animated images rather than videos.
const VIDEO_TYPES: [&str; 6] =
    ["video/mp4", "video/webm", "video/quicktime", "video/x-msvideo", "image/webp", "image/gif"];

fn describe_failures<T: schemars::JsonSchema>(
    operation: &mut OpenApiOperation,
    generator: &mut SchemaGenerator,
) {
    operation.standard_refusal(404, "The result was deleted", generator);
    operation.refusal::<T>(
        422,
        "The content violates the policy of the model's provider; the job was refunded",
        generator,
    );
    operation.refusal::<GenerationFailed>(500, "The job failed and was refunded", generator);
}

/// The file behind a download link.
pub struct LinkedFile(pub Box<FileReply>);

impl HandlerReply for LinkedFile {
    fn into_response(self) -> Result<Response, Refusal> {
        self.0.into_response()
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        for content_type in VIDEO_TYPES {
            operation.file_reply(content_type);
        }
        for content_type in VIDEO_TYPES {
            operation.partial_reply(content_type);
        }
        operation.standard_refusal(
            404,
            "The link does not exist, or its file is not ready yet",
            generator,
        );
        operation.standard_refusal(
            410,
            "The link has expired or was revoked, or its file was deleted",
            generator,
        );
        operation.standard_refusal(416, "The requested range is outside the file", generator);
    }
}
