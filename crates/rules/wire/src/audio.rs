//! Speech, transcription and queued music.

mod queue;
mod speech;
mod transcription;
mod video;
mod voice;

pub use queue::{
    AudioQueueRequest, AudioQueued, AudioQuoteRequest, CompleteRequest, Completed, DurationSeconds,
    InProgress, ProgressStatus, QueuedStatus, Quote, RetrieveRequest,
};
pub use speech::{SpeechFormat, SpeechRequest};
pub use transcription::{
    CharTime, Granularity, SegmentTime, Timestamps, Transcription, TranscriptionFormat,
    TranscriptionRequest, TranslationRequest, VerboseSegment, VerboseTranscription, WordTime,
};
pub use video::{VideoTranscript, VideoTranscriptFormat, VideoTranscriptionRequest};
pub use voice::{ClonedVoice, VoiceCloneRequest};
