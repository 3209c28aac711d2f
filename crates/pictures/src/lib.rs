//! Pictures of callers and of models: recognised by their bytes, read within bounds, changed, and
//! written anew without anything that was attached to them.
//!
//! [`carry_out`] does everything in the order in which it is safe: the head is read and held
//! against the bounds before a pixel is decoded. It is plain work over bytes, without files, clocks
//! or threads, so that it can run in a process that may do nothing else.

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
