//! Sound in, text out.

use bytes::Bytes;

/// A recording, and what is wanted of it.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptionRequest {
    /// The file as it was sent; cloning it copies nothing.
    pub sound: Bytes,
    pub kind: FileKind,
    /// The language that is spoken, as an ISO 639-1 code; the engine listens for it otherwise.
    pub language: Option<String>,
    /// Words that are likely to be said.
    pub hint: Option<String>,
    pub temperature: Option<f64>,
    pub times: Times,
}

/// What a file is, for engines that go by its name. The content decides it, never the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileKind {
    pub extension: &'static str,
    pub mime: &'static str,
}

/// Which times are wanted beside the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times {
    pub segments: bool,
    pub words: bool,
}

impl Times {
    pub fn any(self) -> bool {
        self.segments || self.words
    }
}

/// What was said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transcript {
    pub text: String,
    /// As the engine names it: a code or a word.
    pub language: Option<String>,
    /// How long the sound is that was listened to, in seconds.
    pub duration_s: Option<f64>,
    pub segments: Vec<Segment>,
    pub words: Vec<Word>,
}

/// A stretch of speech. Times are seconds from the beginning.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Segment {
    pub text: String,
    pub start_s: f64,
    pub end_s: f64,
    /// What the engine tells of its own certainty, if it does.
    pub certainty: Option<Certainty>,
}

/// How sure an engine is of a segment, in the measures of Whisper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certainty {
    pub temperature: f64,
    pub avg_logprob: f64,
    pub compression_ratio: f64,
    pub no_speech_prob: f64,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Word {
    pub word: String,
    pub start_s: f64,
    pub end_s: f64,
}
