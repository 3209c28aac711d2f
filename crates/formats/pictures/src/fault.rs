//! Errors of reading images, as sentences for the caller.

use serde::{Deserialize, Serialize};

use crate::header::ImageFileFormat;
use crate::operations::PixelSize;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum ImageFault {
    #[error("The image format is not supported. Send a PNG, JPEG or WebP file.")]
    Unknown,
    #[error("It is {0}. Send a PNG, JPEG or WebP file.")]
    Unsupported(String),
    #[error("The image file is corrupted or unreadable.")]
    Corrupted,
    #[error("The image is animated. Send a single frame.")]
    Animated,
    #[error(
        "Image dimensions are too small: {width} × {height}, where at least {least} pixels are \
         needed.", width = .size.width, height = .size.height
    )]
    TooFewPixels { size: PixelSize, least: u64 },
    #[error(
        "Image dimensions are too small: {width} × {height}, where each side needs at least \
         {least} pixels.", width = .size.width, height = .size.height
    )]
    SideTooShort { size: PixelSize, least: u32 },
    #[error(
        "Image dimensions exceed the maximum allowed: {width} × {height}, where at most {most} \
         pixels can be taken.", width = .size.width, height = .size.height
    )]
    TooManyPixels { size: PixelSize, most: u64 },
    #[error(
        "It has too much detail: written without loss it takes more than {0} bytes. Send a smaller \
         one, or one without transparency."
    )]
    TooMuchDetail(usize),
    #[error("The file contains other data after the {0} image. Send the image alone.")]
    Followed(ImageFileFormat),
    /// The image cannot be encoded as requested: our bug, not the caller's.
    #[error("The image cannot be encoded.")]
    Unwritable,
}
