//! `POST /audio/transcriptions`: sound in, text out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A recording to be written down, as a form.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct TranscriptionRequest {
    /// The recording, as a file: WAV, FLAC, M4A, AAC, MP4, MP3, OGG, OGA or WEBM, of at most 25 MB.
    /// The content says which it is; its name is not looked at.
    #[schemars(extend("format" = "binary", "x-required" = true))]
    pub file: Option<String>,
    /// A transcription model's id, a trait or a compatible name; the default one unless said.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// `json` unless said.
    #[schemars(extend("default" = "json"))]
    pub response_format: Option<TranscriptionFormat>,
    /// Tells when each segment, word and character was said, as far as the model knows. A model that
    /// knows no times at all answers 400.
    #[schemars(extend("default" = false))]
    pub timestamps: Option<bool>,
    /// The language that is spoken, as an ISO 639-1 code; the model listens for it unless said.
    #[schemars(length(min = 2, max = 8))]
    pub language: Option<String>,
    /// Which times are wanted, as OpenAI's clients say it.
    #[schemars(length(max = 3))]
    pub timestamp_granularities: Option<Vec<Granularity>>,
    /// Words that are likely to be said.
    #[schemars(length(max = 4096))]
    pub prompt: Option<String>,
    #[schemars(range(min = 0, max = 1))]
    pub temperature: Option<f64>,
}

/// How a transcript is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TranscriptionFormat {
    #[default]
    Json,
    /// Nothing but the text.
    Text,
    /// OpenAI's long form: the language, the length and every segment.
    VerboseJson,
    /// Subtitles.
    Srt,
    /// Subtitles for the web.
    Vtt,
}

/// What times are told for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Granularity {
    Word,
    Segment,
    /// Spread evenly over the time of each word.
    Char,
}

/// What was said.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Transcription {
    pub text: String,
    /// How long the recording lasts, in seconds.
    pub duration: f64,
    /// Present only when times were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamps: Option<Timestamps>,
}

/// When things were said, in seconds from the beginning. Which of them a model tells differs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Timestamps {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub word: Option<Vec<WordTime>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<Vec<SegmentTime>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub char: Option<Vec<CharTime>>,
}

/// When a character was said.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CharTime {
    pub char: String,
    pub start: f64,
    pub end: f64,
}

/// When a word was said.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WordTime {
    pub word: String,
    pub start: f64,
    pub end: f64,
}

/// When a segment was said.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SegmentTime {
    pub text: String,
    pub start: f64,
    pub end: f64,
}

/// OpenAI's long form of a transcript.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VerboseTranscription {
    /// Always `transcribe`.
    pub task: &'static str,
    /// The language as the model names it, if it does, or as it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// How long the recording lasts, in seconds.
    pub duration: f64,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments: Option<Vec<VerboseSegment>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<Vec<WordTime>>,
}

/// A segment of the long form. What the model does not measure is left out.
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
