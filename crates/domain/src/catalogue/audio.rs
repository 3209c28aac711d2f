//! What models that speak, listen or make music are and can do.

use super::Choices;
use super::named::named;
use crate::pricing::{MusicPrice, Rate};

#[derive(Debug, Clone, PartialEq)]
pub struct TtsSpec {
    pub voices: Choices<String>,
    pub formats: Choices<AudioFormat>,
    /// Whether a voice id of the provider's own is passed on as it is.
    pub custom_voice_id: bool,
    pub voice_cloning: Option<VoiceCloning>,
    /// Whether a caller may describe the style of speaking.
    pub style_prompt: bool,
    pub temperature: bool,
    pub top_p: bool,
    /// For one character.
    pub price: Rate,
}

#[derive(Debug, Clone, PartialEq)]
pub struct VoiceCloning {
    pub mode: CloningMode,
    pub accepted_formats: Vec<AudioFormat>,
    pub min_sample_seconds: u64,
    pub retention_days: u64,
}

named! {
    /// How a cloned voice is kept.
    pub enum CloningMode {
        /// The sample is sent along each time.
        ZeroShot = "zero_shot",
        /// The provider keeps a voice made from it.
        Persistent = "persistent",
    }
}

named! {
    /// Kinds of audio file that are produced or taken as samples.
    pub enum AudioFormat {
        Mp3 = "mp3",
        Opus = "opus",
        Aac = "aac",
        Flac = "flac",
        Wav = "wav",
        Pcm = "pcm",
        M4a = "m4a",
        Ogg = "ogg",
        Webm = "webm",
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct AsrSpec {
    /// For one second of audio.
    pub price: Rate,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MusicSpec {
    pub voices: Choices<String>,
    pub formats: Choices<AudioFormat>,
    pub lyrics: Lyrics,
    pub force_instrumental: bool,
    pub loops: bool,
    pub language_code: bool,
    /// `None` when the model takes no speed.
    pub speed: Option<Speed>,
    /// `None` when the model decides how long the piece is.
    pub duration: Option<Duration>,
    pub prompt_characters_min: Option<u64>,
    pub prompt_characters_max: Option<u64>,
    pub price: MusicPrice,
}

/// Whether a music model sings what the caller wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lyrics {
    Unsupported,
    Supported {
        required: bool,
        /// Whether the model can write or improve the lyrics itself.
        optimizer: bool,
        characters_max: Option<u64>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed {
    pub min: f64,
    pub default: f64,
    pub max: f64,
}

/// How long a piece may be.
#[derive(Debug, Clone, PartialEq)]
pub enum Duration {
    /// One of these lengths, in seconds.
    OneOf(Choices<u64>),
    /// Anything between.
    Within { min_s: u64, default_s: u64, max_s: u64 },
}
