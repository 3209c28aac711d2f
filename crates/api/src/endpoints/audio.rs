//! Speech and transcription.

pub(super) mod speech;
pub(super) mod transcriptions;
