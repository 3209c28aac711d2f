//! Audio, whole or streamed.

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use engine::SoundFormat;
use schemars::SchemaGenerator;

use super::{HandlerReply, WithHeaders, build_response};
use crate::operation::OpenApiOperation;
use crate::refusal::Refusal;

/// Audio for the caller.
pub struct SpeechReply(pub WithHeaders<SpeechAudio>);

pub struct SpeechAudio {
    pub format: SoundFormat,
    pub body: Body,
}

impl HandlerReply for SpeechReply {
    fn into_response(self) -> Result<Response, Refusal> {
        let WithHeaders { body: SpeechAudio { format, body }, headers } = self.0;
        let mut response = build_response(body, headers, content_type(format));
        let name = format!("attachment; filename=\"speech.{}\"", format.name());
        let name = HeaderValue::try_from(name).map_err(Refusal::internal)?;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_DISPOSITION, name);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        // Tells nginx-like proxies not to buffer the audio.
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        Ok(response)
    }

    fn describe(operation: &mut OpenApiOperation, _: &mut SchemaGenerator) {
        for format in SoundFormat::ALL {
            operation.file_reply(content_type(format));
        }
    }
}

const fn content_type(format: SoundFormat) -> &'static str {
    match format {
        SoundFormat::Mp3 => "audio/mpeg",
        SoundFormat::Opus => "audio/opus",
        SoundFormat::Aac => "audio/aac",
        SoundFormat::Flac => "audio/flac",
        SoundFormat::Wav => "audio/wav",
        SoundFormat::Pcm => "audio/pcm",
    }
}
