//! The content of a caller's file, streamed.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use batches::FileDownload;
use futures_util::StreamExt;
use schemars::SchemaGenerator;

use super::{HandlerReply, build_response};
use crate::operation::OpenApiOperation;
use crate::refusal::Refusal;

/// A file to send.
pub struct FileContent(pub FileDownload);

impl HandlerReply for FileContent {
    fn into_response(self) -> Result<Response, Refusal> {
        let FileDownload { file, bytes } = self.0;
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_LENGTH, file.bytes.into());
        let name = format!("attachment; filename=\"file-{}.jsonl\"", file.id.0.simple());
        let name = HeaderValue::try_from(name).map_err(Refusal::internal)?;
        headers.insert(header::CONTENT_DISPOSITION, name);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        // Compression polls a body once more after its end.
        let body = Body::from_stream(bytes.fuse());
        Ok(build_response(body, headers, "application/octet-stream"))
    }

    fn describe(operation: &mut OpenApiOperation, _: &mut SchemaGenerator) {
        operation.file_reply("application/octet-stream");
    }
}
