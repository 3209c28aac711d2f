//! Detects the container and length of one recording.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sound::{Recording, Unreadable};

use super::Task;
use crate::Bounds;

/// The recording is in the bytes.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Request {}

impl Task for Request {
    type Outcome = Result<Recording, Unreadable>;

    const BOUNDS: Bounds = Bounds {
        // The file; nothing is built from it.
        memory_bytes: 256 * 1024 * 1024,
        cpu_s: 2,
        time: Duration::from_secs(20),
        answer_bytes: 0,
    };

    fn perform(self, bytes: &[u8]) -> (Self::Outcome, Vec<u8>) {
        (sound::inspect(bytes), Vec::new())
    }
}
