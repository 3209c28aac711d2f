//! Processes images of callers and models: detects them by content, decodes them within limits,
//! edits them, and encodes them without metadata.
//!
//! [`process_image`] performs all steps in a safe order: the header is checked against the limits
//! before a pixel is decoded. It is a pure function over bytes, without files, clocks or threads,
//! so that it can run in a confined process.

mod decode;
mod encode;
mod exif;
mod fault;
mod font;
mod header;
mod icc_profile;
mod operations;
mod trailing_data;
mod transform;

pub use fault::ImageFault;
pub use header::{ImageFileFormat, ImageHeader, inspect_image};
pub use operations::{
    ImageBounds, ImageEncoding, ImageOperations, PixelSize, ProcessedImage, ResizeMode,
    encode_black_image, process_image,
};

#[cfg(test)]
mod tests;
