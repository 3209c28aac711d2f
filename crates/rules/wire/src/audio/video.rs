//! `POST /video/transcriptions`: video to text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A video whose speech is to be transcribed.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct VideoTranscriptionRequest {
    /// The public URL of the video, of at most 25 MB. Alternative to `file`.
    #[schemars(length(min = 1, max = 8192))]
    pub url: Option<String>,
    /// The video as a form file: MP4 or WEBM, of at most 25 MB. Alternative to `url`.
    #[schemars(extend("format" = "binary"))]
    pub file: Option<String>,
    /// A transcription model's id, a trait or a compatible name. Default: the default transcription
    /// model.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// The format of the transcript. Default: `json`.
    #[schemars(extend("default" = "json"))]
    pub response_format: Option<VideoTranscriptFormat>,
}

/// The format of a video's transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum VideoTranscriptFormat {
    Json,
    /// The text only.
    Text,
}

/// The transcript of a video.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VideoTranscript {
    pub transcript: String,
    /// The language detected by the model, if it detects one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lang: Option<String>,
}
