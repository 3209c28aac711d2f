//! Audio files: decoded block by block, encoded incrementally. `sound` detects the format.
//!
//! No files or clocks are used: only bytes and samples. For any input, memory stays within the
//! caller's limits.

mod decode;
mod encode;
mod resample;
mod source;
mod wav;

pub use decode::MonoDecoder;
pub use encode::{AudioEncoder, EncodeError, EncoderFormat, encode_file};
pub use source::{DecodeLimits, SoundError};

#[cfg(test)]
mod tests;
