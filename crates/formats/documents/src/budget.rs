//! Limits for reading the documents of one request.

use serde::{Deserialize, Serialize};

/// More than the XML of real documents; embedded images are not unpacked.
const UNPACKED_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// About two million tokens, more than the largest context windows.
const TEXT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The remaining limits for the documents of one request. Small files can unpack to large ones, so
/// one budget is shared by all files.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct DocumentBudget {
    pub(crate) unpacked_bytes_left: u64,
    pub(crate) text_bytes_left: usize,
}

impl Default for DocumentBudget {
    fn default() -> DocumentBudget {
        DocumentBudget { unpacked_bytes_left: UNPACKED_BYTES_MAX, text_bytes_left: TEXT_BYTES_MAX }
    }
}
