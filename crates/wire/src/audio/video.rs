//! `POST /video/transcriptions`: a video in, text out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A video whose sound is to be written down.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct VideoTranscriptionRequest {
    /// Where the video lies, of at most 25 MB: a public address; or send `file`.
    #[schemars(length(min = 1, max = 8192))]
    pub url: Option<String>,
    /// The video, as a file of a form: MP4 or WEBM, of at most 25 MB.
    #[schemars(extend("format" = "binary"))]
    pub file: Option<String>,
    /// A transcription model's id, a trait or a compatible name; the default one unless said.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// `json` unless said.
    #[schemars(extend("default" = "json"))]
    pub response_format: Option<VideoTranscriptFormat>,
}

/// How a video's transcript is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum VideoTranscriptFormat {
    Json,
    /// Nothing but the text.
    Text,
}

/// What is said in a video.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VideoTranscript {
    pub transcript: String,
    /// The language as the model names it, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lang: Option<String>,
}
