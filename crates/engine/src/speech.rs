//! Text in, sound out.

use bytes::Bytes;
use futures_util::stream::BoxStream;

use crate::{EngineError, FileKind};

/// What to say, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeechRequest {
    pub input: String,
    /// The engine's own choice where there is none.
    pub voice: Option<String>,
    pub format: SoundFormat,
    /// Times as fast as the voice speaks by itself.
    pub speed: Option<f64>,
    /// A language's name or code. An engine that does not know it goes by the text.
    pub language: Option<String>,
    /// The manner of speaking, in words.
    pub style: Option<String>,
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
}

/// A recording of a voice that is to be learned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoiceSample {
    /// The file as it was sent; cloning it copies nothing.
    pub sound: Bytes,
    pub kind: FileKind,
    /// What the engine shall call the voice in its own lists.
    pub name: String,
}

/// How sound is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SoundFormat {
    Mp3,
    /// In Ogg pages.
    Opus,
    /// In ADTS frames.
    Aac,
    Flac,
    Wav,
    /// Samples of 16 bits, least byte first, one channel, without any header.
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

/// The bytes of one recording as they are made.
///
/// It ends with `None` only when the recording is whole; one that breaks off ends with an error.
/// Nothing follows an error. Dropping the stream stops the work.
pub type SoundStream = BoxStream<'static, Result<Bytes, EngineError>>;
