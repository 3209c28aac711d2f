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

pub use canvas::{CameraView, FrameCanvas, ImageFit, RgbPixels};
pub use frame::VideoFrame;
pub use writer::{FRAMES_MAX, SIDE_MAX, VideoError, VideoFormat, VideoWriter};
