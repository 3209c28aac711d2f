//! Video files: pictures go in one by one, and an MP4 file with H.264 comes out.
//!
//! The same pictures give the same bytes: the quantiser is fixed, and nothing depends on the time
//! that encoding takes or on the number of cores.

mod canvas;
mod frame;
mod mp4;
mod writer;

#[cfg(test)]
mod tests;

pub use canvas::{Canvas, Fit, Pixels, View};
pub use frame::Frame;
pub use writer::{FRAMES_MAX, Format, SIDE_MAX, VideoError, VideoWriter};
