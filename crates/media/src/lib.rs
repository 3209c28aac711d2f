//! Audio files: decoded block by block, encoded incrementally. `sound` detects the format.
//!
//! No files or clocks are used: only bytes and samples. For any input, memory stays within the
//! caller's limits.

mod decode;
mod encode;
mod resample;
mod source;
mod wav;

pub use decode::Decoder;
pub use encode::{EncodeError, Encoder, Format, encode};
pub use source::{Limits, SoundError};

#[cfg(test)]
mod tests;
