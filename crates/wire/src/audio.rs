//! Speech and transcription.

mod speech;
mod transcription;

pub use speech::{SpeechFormat, SpeechRequest};
pub use transcription::{
    Granularity, SegmentTime, Timestamps, Transcription, TranscriptionFormat, TranscriptionRequest,
    VerboseSegment, VerboseTranscription, WordTime,
};
