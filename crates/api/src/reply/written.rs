//! Transcripts in the requested format.

use axum::response::Response;
use schemars::SchemaGenerator;
use wire::audio::{Transcription, VerboseTranscription, VideoTranscript};

use super::{Reply, WithHeaders, respond};
use crate::operation::Operation;
use crate::refusal::Refusal;

pub(crate) enum Written {
    Json(WithHeaders<Transcription>),
    Verbose(WithHeaders<VerboseTranscription>),
    /// Plain text, or subtitles.
    Text(WithHeaders<String>),
}

impl Reply for Written {
    fn into_response(self) -> Result<Response, Refusal> {
        match self {
            Written::Json(answer) => answer.into_response(),
            Written::Verbose(answer) => answer.into_response(),
            Written::Text(answer) => {
                Ok(respond(answer.body.into(), answer.headers, "text/plain; charset=utf-8"))
            }
        }
    }

    fn describe(operation: &mut Operation, generator: &mut SchemaGenerator) {
        operation.reply::<Transcription>(generator);
        operation.reply::<VerboseTranscription>(generator);
        operation.text_reply("text/plain");
    }
}

/// The transcript of a video.
pub(crate) enum VideoWritten {
    Json(WithHeaders<VideoTranscript>),
    Text(WithHeaders<String>),
}

impl Reply for VideoWritten {
    fn into_response(self) -> Result<Response, Refusal> {
        match self {
            VideoWritten::Json(answer) => answer.into_response(),
            VideoWritten::Text(answer) => {
                Ok(respond(answer.body.into(), answer.headers, "text/plain; charset=utf-8"))
            }
        }
    }

    fn describe(operation: &mut Operation, generator: &mut SchemaGenerator) {
        operation.reply::<VideoTranscript>(generator);
        operation.text_reply("text/plain");
    }
}
