//! Transcripts in the requested format.

use axum::response::Response;
use schemars::SchemaGenerator;
use wire::audio::{Transcription, VerboseTranscription, VideoTranscript};

use super::{HandlerReply, WithHeaders, build_response};
use crate::operation::OpenApiOperation;
use crate::refusal::Refusal;

pub enum TranscriptReply {
    Json(WithHeaders<Transcription>),
    Verbose(WithHeaders<VerboseTranscription>),
    /// Plain text, or subtitles.
    Text(WithHeaders<String>),
}

impl HandlerReply for TranscriptReply {
    fn into_response(self) -> Result<Response, Refusal> {
        match self {
            TranscriptReply::Json(answer) => answer.into_response(),
            TranscriptReply::Verbose(answer) => answer.into_response(),
            TranscriptReply::Text(answer) => {
                Ok(build_response(answer.body.into(), answer.headers, "text/plain; charset=utf-8"))
            }
        }
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        operation.reply::<Transcription>(generator);
        operation.reply::<VerboseTranscription>(generator);
        operation.text_reply("text/plain");
    }
}

/// The transcript of a video.
pub enum VideoTranscriptReply {
    Json(WithHeaders<VideoTranscript>),
    Text(WithHeaders<String>),
}

impl HandlerReply for VideoTranscriptReply {
    fn into_response(self) -> Result<Response, Refusal> {
        match self {
            VideoTranscriptReply::Json(answer) => answer.into_response(),
            VideoTranscriptReply::Text(answer) => {
                Ok(build_response(answer.body.into(), answer.headers, "text/plain; charset=utf-8"))
            }
        }
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        operation.reply::<VideoTranscript>(generator);
        operation.text_reply("text/plain");
    }
}
