//! Encodes images, one by one, to an MP4 file with H.264.
//!
//! The same images give the same bytes: the quantiser is fixed, and nothing depends on the encoding
//! time or the number of cores.

mod canvas;
mod frame;
mod mp4;
mod writer;

#[cfg(test)]
mod tests;

pub use canvas::{Canvas, Fit, Pixels, View};
pub use frame::Frame;
pub use writer::{FRAMES_MAX, Format, SIDE_MAX, VideoError, VideoWriter};
