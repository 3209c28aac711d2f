//! Images, as files or in JSON.

use axum::http::{HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use pictures::ImageFileFormat;
use schemars::SchemaGenerator;
use wire::images::ImageGenerationResult;

use super::{HandlerReply, WithHeaders, build_response};
use crate::operation::OpenApiOperation;
use crate::refusal::Refusal;

/// An image file.
pub struct ReplyImageFile {
    pub bytes: Bytes,
    pub format: ImageFileFormat,
    /// Without its extension.
    pub name: &'static str,
}

/// An image in any of the formats.
pub struct ImageFileReply(pub WithHeaders<ReplyImageFile>);

/// An image that is always a PNG.
pub struct PngFileReply(pub WithHeaders<ReplyImageFile>);

/// Images in JSON, or one image as a file.
pub enum ImageReply {
    Json(Box<WithHeaders<ImageGenerationResult>>),
    File(ImageFileReply),
}

impl HandlerReply for ImageFileReply {
    fn into_response(self) -> Result<Response, Refusal> {
        let WithHeaders { body: ReplyImageFile { bytes, format, name }, headers } = self.0;
        let mut response = build_response(bytes.into(), headers, format.mime());
        let name = format!("attachment; filename=\"{name}.{}\"", format.extension());
        let name = HeaderValue::try_from(name).map_err(Refusal::internal)?;
        response.headers_mut().insert(header::CONTENT_DISPOSITION, name);
        Ok(response)
    }

    fn describe(operation: &mut OpenApiOperation, _: &mut SchemaGenerator) {
        for format in ImageFileFormat::ALL {
            operation.file_reply(format.mime());
        }
    }
}

impl HandlerReply for PngFileReply {
    fn into_response(self) -> Result<Response, Refusal> {
        ImageFileReply(self.0).into_response()
    }

    fn describe(operation: &mut OpenApiOperation, _: &mut SchemaGenerator) {
        operation.file_reply(ImageFileFormat::Png.mime());
    }
}

impl HandlerReply for ImageReply {
    fn into_response(self) -> Result<Response, Refusal> {
        match self {
            ImageReply::Json(answer) => answer.into_response(),
            ImageReply::File(file) => file.into_response(),
        }
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        operation.reply::<ImageGenerationResult>(generator);
        ImageFileReply::describe(operation, generator);
    }
}
