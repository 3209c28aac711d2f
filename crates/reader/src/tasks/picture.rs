//! Decodes one image and encodes it again.

use std::time::Duration;

use pictures::{Fault, Format, Order, Size};
use serde::{Deserialize, Serialize};

use super::Task;
use crate::Bounds;

/// The operations on the image in the bytes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Request {
    pub order: Order,
}

/// The encoded file is in the bytes.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Written {
    pub format: Format,
    pub size: Size,
}

impl Task for Request {
    type Outcome = Result<Written, Fault>;

    const BOUNDS: Bounds = Bounds {
        // Two copies of the largest accepted image at four bytes per pixel, its file, and the
        // codec's memory.
        memory_bytes: 1024 * 1024 * 1024,
        cpu_s: 30,
        time: Duration::from_secs(60),
        answer_bytes: 160 * 1024 * 1024,
    };

    fn perform(self, bytes: &[u8]) -> (Self::Outcome, Vec<u8>) {
        match pictures::carry_out(&self.order, bytes) {
            Ok(pictures::Outcome { file, format, size }) => (Ok(Written { format, size }), file),
            Err(fault) => (Err(fault), Vec::new()),
        }
    }
}

impl Written {
    /// Combines the outcome with its bytes.
    pub fn with(self, file: Vec<u8>) -> pictures::Outcome {
        pictures::Outcome { file, format: self.format, size: self.size }
    }
}
