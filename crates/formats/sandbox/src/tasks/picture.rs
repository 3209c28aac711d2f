//! Decodes one image and encodes it again.

use std::time::Duration;

use pictures::{ImageFault, ImageFileFormat, ImageOperations, PixelSize};
use serde::{Deserialize, Serialize};

use super::ReaderTask;
use crate::TaskBounds;

/// The operations on the image in the bytes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ImageTask {
    pub order: ImageOperations,
}

/// The encoded file is in the bytes.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct EncodedImage {
    pub format: ImageFileFormat,
    pub size: PixelSize,
}

impl ReaderTask for ImageTask {
    type Outcome = Result<EncodedImage, ImageFault>;

    const BOUNDS: TaskBounds = TaskBounds {
        // Two copies of the largest accepted image at four bytes per pixel, its file, and the
        // codec's memory.
        memory_bytes: 1024 * 1024 * 1024,
        cpu_s: 30,
        time: Duration::from_secs(60),
        answer_bytes: 160 * 1024 * 1024,
    };

    fn perform(self, bytes: &[u8]) -> (Self::Outcome, Vec<u8>) {
        match pictures::process_image(&self.order, bytes) {
            Ok(pictures::ProcessedImage { file, format, size }) => {
                (Ok(EncodedImage { format, size }), file)
            }
            Err(fault) => (Err(fault), Vec::new()),
        }
    }
}

impl EncodedImage {
    /// Combines the outcome with its bytes.
    pub fn combine_with(self, file: Vec<u8>) -> pictures::ProcessedImage {
        pictures::ProcessedImage { file, format: self.format, size: self.size }
    }
}
