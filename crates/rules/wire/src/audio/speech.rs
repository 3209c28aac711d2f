//! `POST /audio/speech`: text to speech.

use schemars::JsonSchema;
use serde::Deserialize;

/// A text to convert to speech.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SpeechRequest {
    /// The text to speak: 1 to 4096 characters.
    #[schemars(length(min = 1, max = 4096))]
    pub input: String,
    /// A speech model's id, a trait or a compatible name. Default: `tts-kokoro`, or the default
    /// speech model if the service does not have that model.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// One of the model's voices. Default: the model's default voice. An unknown voice is refused
    /// with an error that lists the available voices.
    #[schemars(length(min = 1, max = 256))]
    pub voice: Option<String>,
    /// The audio format. Default: the model's default format, usually `mp3`. Not every model
    /// supports every format.
    pub response_format: Option<SpeechFormat>,
    /// The speed relative to the voice's normal speed. Default: 1.
    #[schemars(range(min = 0.25, max = 4), extend("default" = 1.0))]
    pub speed: Option<f64>,
    /// Streams the audio sentence by sentence instead of sending a complete file. Default: false.
    #[schemars(extend("default" = false))]
    pub streaming: Option<bool>,
    /// The language as a name or an ISO 639-1 code. Models that do not support it detect the
    /// language from the text.
    #[schemars(length(min = 2, max = 32))]
    pub language: Option<String>,
    /// Instructions for the manner of speaking, for models with `supportsPromptParam`.
    #[schemars(length(max = 500))]
    pub prompt: Option<String>,
    /// The sampling temperature, for models with `supportsTemperatureParam`.
    #[schemars(range(min = 0, max = 2))]
    pub temperature: Option<f64>,
    /// The nucleus sampling threshold, for models with `supportsTopPParam`.
    #[schemars(range(min = 0, max = 1))]
    pub top_p: Option<f64>,
    /// OpenAI's name for `prompt`. Ignored by models without `supportsPromptParam`.
    #[schemars(length(max = 4096))]
    pub instructions: Option<String>,
}

/// The audio format of speech.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SpeechFormat {
    Mp3,
    Opus,
    Aac,
    Flac,
    Wav,
    /// Raw samples: 16-bit little-endian, mono, without a header.
    Pcm,
}
