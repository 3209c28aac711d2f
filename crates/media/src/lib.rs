//! Sound files: decoded block by block, encoded piece by piece. What a file is, `sound` says.
//!
//! Nothing here reads a file or a clock: bytes come in, samples go out, and the other way round.
//! Whatever the bytes are, memory stays bounded by the limits that the caller sets.

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
