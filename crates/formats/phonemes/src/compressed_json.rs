//! Data files of compressed JSON.

use std::io::Read;

use flate2::read::GzDecoder;
use serde::de::DeserializeOwned;

/// The reason why a data file cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the pronunciation data is damaged: {0}; download the model again")]
pub struct PronunciationDataError(pub(crate) String);

/// Several times the unpacked size of the largest file.
const UNPACKED_BYTES_MAX: u64 = 64 * 1024 * 1024;

pub(crate) fn read_compressed_json<T: DeserializeOwned>(
    packed: &[u8],
) -> Result<T, PronunciationDataError> {
    let mut json = Vec::new();
    let mut unpacking = GzDecoder::new(packed).take(UNPACKED_BYTES_MAX);
    unpacking.read_to_end(&mut json).map_err(|error| PronunciationDataError(error.to_string()))?;
    serde_json::from_slice(&json).map_err(|error| PronunciationDataError(error.to_string()))
}
