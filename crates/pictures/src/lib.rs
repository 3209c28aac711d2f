//! Processes images of callers and models: detects them by content, decodes them within limits,
//! edits them, and encodes them without metadata.
//!
//! [`carry_out`] performs all steps in a safe order: the header is checked against the limits
//! before a pixel is decoded. It is a pure function over bytes, without files, clocks or threads,
//! so that it can run in a confined process.

mod decode;
mod encode;
mod exif;
mod fault;
mod font;
mod head;
mod icc_profile;
mod look;
mod order;
mod tail;

pub use fault::Fault;
pub use head::{Format, Head, inspect};
pub use order::{Bounds, Order, Outcome, Resize, Size, Writing, black, carry_out};

#[cfg(test)]
mod tests;
