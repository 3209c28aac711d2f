//! Speech, transcription and queued music.

pub(super) mod complete;
mod music;
pub(super) mod queue;
pub(super) mod quote;
pub(super) mod retrieve;
pub(super) mod speech;
pub(super) mod transcriptions;
pub(super) mod translations;
pub(super) mod video_transcriptions;
pub(super) mod voices;
