//! Text-to-speech requests and the audio stream.

use bytes::Bytes;
use futures_util::stream::BoxStream;

use crate::{EngineError, FileKind};

/// A text to speak, with its voice and format.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeechRequest {
    pub input: String,
    /// `None` uses the engine's default voice.
    pub voice: Option<String>,
    pub format: SoundFormat,
    /// Factor relative to the voice's normal speed.
    pub speed: Option<f64>,
    /// A language name or code. An engine that does not know it detects the language from the text.
    pub language: Option<String>,
    /// Instructions for the speaking style.
    pub style: Option<String>,
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
}

/// A recording from which to clone a voice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoiceSample {
    /// The file as it was uploaded. Cloning is cheap: the bytes are shared.
    pub sound: Bytes,
    pub kind: FileKind,
    /// The label of the voice in the engine's own lists.
    pub name: String,
}

/// Audio file formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SoundFormat {
    Mp3,
    /// Opus in Ogg pages.
    Opus,
    /// AAC in ADTS frames.
    Aac,
    Flac,
    Wav,
    /// 16-bit little-endian samples, one channel, no header.
    Pcm,
}

impl SoundFormat {
    pub const ALL: [SoundFormat; 6] = [
        SoundFormat::Mp3,
        SoundFormat::Opus,
        SoundFormat::Aac,
        SoundFormat::Flac,
        SoundFormat::Wav,
        SoundFormat::Pcm,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            SoundFormat::Mp3 => "mp3",
            SoundFormat::Opus => "opus",
            SoundFormat::Aac => "aac",
            SoundFormat::Flac => "flac",
            SoundFormat::Wav => "wav",
            SoundFormat::Pcm => "pcm",
        }
    }
}

/// The bytes of one audio file as they are produced.
///
/// The stream ends with `None` only when the file is complete; an interrupted one ends with an
/// error. Nothing follows an error. Dropping the stream cancels the work.
pub type SoundStream = BoxStream<'static, Result<Bytes, EngineError>>;
