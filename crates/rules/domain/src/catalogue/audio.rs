//! Specifications of text-to-speech, speech-to-text and music models.

use super::ChoiceList;
use super::named::named;
use crate::pricing::{MusicPrice, UnitRate};

#[derive(Debug, Clone, PartialEq)]
pub struct TtsSpec {
    pub voices: ChoiceList<String>,
    pub formats: ChoiceList<AudioFileFormat>,
    /// True if voice ids of the provider are forwarded unchanged.
    pub custom_voice_id: bool,
    pub voice_cloning: Option<VoiceCloning>,
    /// True if a caller may describe the speaking style.
    pub style_prompt: bool,
    pub temperature: bool,
    pub top_p: bool,
    /// Per character.
    pub price: UnitRate,
}

#[derive(Debug, Clone, PartialEq)]
pub struct VoiceCloning {
    pub mode: CloningMode,
    pub accepted_formats: Vec<AudioFileFormat>,
    pub min_sample_seconds: u64,
    pub retention_days: u64,
}

named! {
    /// Storage of a cloned voice.
    pub enum CloningMode {
        /// The sample is sent with each request.
        ZeroShot = "zero_shot",
        /// The provider stores a voice made from the sample.
        Persistent = "persistent",
    }
}

named! {
    /// Audio file formats, for output and for voice samples.
    pub enum AudioFileFormat {
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
    /// Per second of audio.
    pub price: UnitRate,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MusicSpec {
    pub voices: ChoiceList<String>,
    pub formats: ChoiceList<AudioFileFormat>,
    pub lyrics: LyricsSupport,
    pub force_instrumental: bool,
    pub loops: bool,
    pub language_code: bool,
    /// `None` if the model has no speed option.
    pub speed: Option<SpeedRange>,
    /// `None` if the model chooses the length itself.
    pub duration: Option<MusicDuration>,
    pub prompt_characters_min: Option<u64>,
    pub prompt_characters_max: Option<u64>,
    pub price: MusicPrice,
}

/// Support for lyrics written by the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LyricsSupport {
    Unsupported,
    Supported {
        required: bool,
        /// True if the model can write or improve the lyrics itself.
        optimizer: bool,
        characters_max: Option<u64>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedRange {
    pub min: f64,
    pub default: f64,
    pub max: f64,
}

/// Permitted lengths of a generated piece.
#[derive(Debug, Clone, PartialEq)]
pub enum MusicDuration {
    /// One of these lengths, in seconds.
    OneOf(ChoiceList<u64>),
    /// Any number of seconds in this range.
    Within { min_s: u64, default_s: u64, max_s: u64 },
}
