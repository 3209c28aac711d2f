//! Detects the container and length of one recording.

use std::time::Duration;

use audio_probe::{RecordingInfo, RecordingReadError};
use serde::{Deserialize, Serialize};

use super::ReaderTask;
use crate::TaskBounds;

/// The recording is in the bytes.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct RecordingTask {}

impl ReaderTask for RecordingTask {
    type Outcome = Result<RecordingInfo, RecordingReadError>;

    const BOUNDS: TaskBounds = TaskBounds {
        // The file; nothing is built from it.
        memory_bytes: 256 * 1024 * 1024,
        cpu_s: 2,
        time: Duration::from_secs(20),
        answer_bytes: 0,
    };

    fn perform(self, bytes: &[u8]) -> (Self::Outcome, Vec<u8>) {
        (audio_probe::inspect_recording(bytes), Vec::new())
    }
}
