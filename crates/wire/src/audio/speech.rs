//! `POST /audio/speech`: text in, sound out.

use schemars::JsonSchema;
use serde::Deserialize;

/// A text to be spoken.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SpeechRequest {
    /// The text, of 1 to 4096 characters.
    #[schemars(length(min = 1, max = 4096))]
    pub input: String,
    /// A speech model's id, a trait or a compatible name; `tts-kokoro` unless said, or the default
    /// speech model where there is no such model.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// One of the model's voices; its default voice unless said. A voice that the model does not
    /// have is refused, and the refusal lists those it has.
    #[schemars(length(min = 1, max = 256))]
    pub voice: Option<String>,
    /// What the sound is written as; the model's default unless said, which is `mp3` for most. Not
    /// every model makes every format.
    pub response_format: Option<SpeechFormat>,
    /// Times as fast as the voice speaks by itself; 1 unless said.
    #[schemars(range(min = 0.25, max = 4), extend("default" = 1.0))]
    pub speed: Option<f64>,
    /// Sends the sound sentence by sentence as it is made, instead of a complete file.
    #[schemars(extend("default" = false))]
    pub streaming: Option<bool>,
    /// The language's name or ISO 639-1 code. Models that do not know it go by the text.
    #[schemars(length(min = 2, max = 32))]
    pub language: Option<String>,
    /// The manner of speaking, for models with `supportsPromptParam`.
    #[schemars(length(max = 500))]
    pub prompt: Option<String>,
    /// For models with `supportsTemperatureParam`.
    #[schemars(range(min = 0, max = 2))]
    pub temperature: Option<f64>,
    /// For models with `supportsTopPParam`.
    #[schemars(range(min = 0, max = 1))]
    pub top_p: Option<f64>,
    /// OpenAI's name for `prompt`. Models without `supportsPromptParam` pass it over.
    #[schemars(length(max = 4096))]
    pub instructions: Option<String>,
}

/// How spoken sound is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SpeechFormat {
    Mp3,
    Opus,
    Aac,
    Flac,
    Wav,
    /// Samples of 16 bits, least byte first, one channel, without a header.
    Pcm,
}
