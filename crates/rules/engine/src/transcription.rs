//! Speech-to-text requests and responses.

use bytes::Bytes;

/// A recording to transcribe, with options.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptionRequest {
    /// The file as it was uploaded. Cloning is cheap: the bytes are shared.
    pub sound: Bytes,
    pub kind: FileKind,
    /// The spoken language as an ISO 639-1 code; `None` lets the engine detect it.
    pub language: Option<String>,
    /// Words that are likely to occur.
    pub hint: Option<String>,
    pub temperature: Option<f64>,
    pub times: TimestampOptions,
}

/// A file's type, for engines that rely on the file name. Detected from the content, never taken
/// from the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileKind {
    pub extension: &'static str,
    pub mime: &'static str,
}

/// The timestamps to return besides the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimestampOptions {
    pub segments: bool,
    pub words: bool,
}

impl TimestampOptions {
    pub fn any(self) -> bool {
        self.segments || self.words
    }
}

/// The transcribed text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TranscriptionAnswer {
    pub text: String,
    /// The language as the engine names it: a code or a word.
    pub language: Option<String>,
    /// Length of the transcribed audio in seconds.
    pub duration_s: Option<f64>,
    pub segments: Vec<TranscriptionSegment>,
    pub words: Vec<TranscriptionWord>,
}

/// A segment of speech. Times are in seconds from the start.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TranscriptionSegment {
    pub text: String,
    pub start_s: f64,
    pub end_s: f64,
    /// Quality scores, if the engine returns them.
    pub certainty: Option<SegmentScores>,
}

/// Quality scores of a segment, as defined by Whisper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SegmentScores {
    pub temperature: f64,
    pub avg_logprob: f64,
    pub compression_ratio: f64,
    pub no_speech_prob: f64,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct TranscriptionWord {
    pub word: String,
    pub start_s: f64,
    pub end_s: f64,
}
