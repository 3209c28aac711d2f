//! Images, as files or in JSON.

use axum::http::{HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use pictures::Format;
use schemars::SchemaGenerator;
use wire::images::Generated;

use super::{Reply, WithHeaders, respond};
use crate::operation::Operation;
use crate::refusal::Refusal;

/// An image file.
pub(crate) struct PictureFile {
    pub(crate) bytes: Bytes,
    pub(crate) format: Format,
    /// Without its extension.
    pub(crate) name: &'static str,
}

/// An image in any of the formats.
pub(crate) struct Pictured(pub(crate) WithHeaders<PictureFile>);

/// An image that is always a PNG.
pub(crate) struct PngPictured(pub(crate) WithHeaders<PictureFile>);

/// Images in JSON, or one image as a file.
pub(crate) enum Generation {
    Json(Box<WithHeaders<Generated>>),
    File(Pictured),
}

impl Reply for Pictured {
    fn into_response(self) -> Result<Response, Refusal> {
        let WithHeaders { body: PictureFile { bytes, format, name }, headers } = self.0;
        let mut response = respond(bytes.into(), headers, format.mime());
        let name = format!("attachment; filename=\"{name}.{}\"", format.extension());
        let name = HeaderValue::try_from(name).map_err(Refusal::internal)?;
        response.headers_mut().insert(header::CONTENT_DISPOSITION, name);
        Ok(response)
    }

    fn describe(operation: &mut Operation, _: &mut SchemaGenerator) {
        for format in Format::ALL {
            operation.file_reply(format.mime());
        }
    }
}

impl Reply for PngPictured {
    fn into_response(self) -> Result<Response, Refusal> {
        Pictured(self.0).into_response()
    }

    fn describe(operation: &mut Operation, _: &mut SchemaGenerator) {
        operation.file_reply(Format::Png.mime());
    }
}

impl Reply for Generation {
    fn into_response(self) -> Result<Response, Refusal> {
        match self {
            Generation::Json(answer) => answer.into_response(),
            Generation::File(file) => file.into_response(),
        }
    }

    fn describe(operation: &mut Operation, generator: &mut SchemaGenerator) {
        operation.reply::<Generated>(generator);
        Pictured::describe(operation, generator);
    }
}
