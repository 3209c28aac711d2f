//! `POST /audio/transcriptions` and `/audio/translations`: speech to text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A recording to transcribe, as multipart form data.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct TranscriptionRequest {
    /// The recording as a file of at most 25 MB: WAV, FLAC, M4A, AAC, MP4, MP3, OGG, OGA or WEBM.
    /// The format is detected from the content; the file name is ignored.
    #[schemars(extend("format" = "binary", "x-required" = true))]
    pub file: Option<String>,
    /// A transcription model's id, a trait or a compatible name. Default: the default transcription
    /// model.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// The format of the transcript. Default: `json`.
    #[schemars(extend("default" = "json"))]
    pub response_format: Option<TranscriptionFormat>,
    /// Returns the times of segments, words and characters, as far as the model supports them. A
    /// model without timestamps is refused with 400. Default: false.
    #[schemars(extend("default" = false))]
    pub timestamps: Option<bool>,
    /// The spoken language as an ISO 639-1 code. Default: detected by the model.
    #[schemars(length(min = 2, max = 8))]
    pub language: Option<String>,
    /// The timestamps to return, in the form used by OpenAI's clients.
    #[schemars(length(max = 3))]
    pub timestamp_granularities: Option<Vec<Granularity>>,
    /// Words that are likely to occur in the recording.
    #[schemars(length(max = 4096))]
    pub prompt: Option<String>,
    #[schemars(range(min = 0, max = 1))]
    pub temperature: Option<f64>,
}

/// A recording to transcribe in English, as multipart form data.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct TranslationRequest {
    /// The recording as a file of at most 25 MB: WAV, FLAC, M4A, AAC, MP4, MP3, OGG, OGA or WEBM.
    /// The format is detected from the content; the file name is ignored.
    #[schemars(extend("format" = "binary", "x-required" = true))]
    pub file: Option<String>,
    /// A transcription model's id, a trait or a compatible name. Default: the default transcription
    /// model. A model that cannot translate is refused with 400.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// The format of the translation. Default: `json`.
    #[schemars(extend("default" = "json"))]
    pub response_format: Option<TranscriptionFormat>,
    /// English words that are likely to occur in the translation.
    #[schemars(length(max = 4096))]
    pub prompt: Option<String>,
    #[schemars(range(min = 0, max = 1))]
    pub temperature: Option<f64>,
}

/// The format of a transcript.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TranscriptionFormat {
    #[default]
    Json,
    /// The text only.
    Text,
    /// OpenAI's verbose format: the language, the duration and every segment.
    VerboseJson,
    /// SubRip subtitles.
    Srt,
    /// WebVTT subtitles.
    Vtt,
}

/// The unit that timestamps are returned for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Granularity {
    Word,
    Segment,
    /// Interpolated evenly within each word.
    Char,
}

/// A transcript.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Transcription {
    pub text: String,
    /// The duration of the recording in seconds.
    pub duration: f64,
    /// Present only if timestamps were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamps: Option<Timestamps>,
}

/// Start and end times in seconds from the start of the recording. The available units depend on
/// the model.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Timestamps {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub word: Option<Vec<WordTime>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<Vec<SegmentTime>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub char: Option<Vec<CharTime>>,
}

/// The start and end of a character.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CharTime {
    pub char: String,
    pub start: f64,
    pub end: f64,
}

/// The start and end of a word.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WordTime {
    pub word: String,
    pub start: f64,
    pub end: f64,
}

/// The start and end of a segment.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SegmentTime {
    pub text: String,
    pub start: f64,
    pub end: f64,
}

/// A transcript in OpenAI's verbose format.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VerboseTranscription {
    /// `transcribe`, or `translate` for a translation.
    pub task: &'static str,
    /// The language detected by the model, or else the one that was sent. `english` for a
    /// translation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The duration of the recording in seconds.
    pub duration: f64,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments: Option<Vec<VerboseSegment>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<Vec<WordTime>>,
}

/// A segment of a verbose transcript. Scores that the model does not provide are absent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VerboseSegment {
    pub id: usize,
    pub start: f64,
    pub end: f64,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub avg_logprob: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compression_ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_speech_prob: Option<f64>,
}
