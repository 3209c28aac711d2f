//! Sound files: recognised by their content, decoded block by block, encoded piece by piece.
//!
//! Nothing here reads a file or a clock: bytes come in, samples go out, and the other way round.
//! Whatever the bytes are, memory stays bounded by the limits that the caller sets.

mod decode;
mod encode;
mod resample;
mod sniff;
mod source;
mod wav;

pub use decode::Decoder;
pub use encode::{EncodeError, Encoder, Format, encode};
pub use sniff::{Container, sniff};
pub use source::{Limits, SoundError};

#[cfg(test)]
mod tests;
