//! Errors of reading images, as sentences for the caller.

use serde::{Deserialize, Serialize};

use crate::header::ImageFileFormat;
use crate::operations::PixelSize;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum ImageFault {
    #[error("It is no picture that is known here. Send a PNG, JPEG or WebP file.")]
    Unknown,
    #[error("It is {0}. Send a PNG, JPEG or WebP file.")]
    Unsupported(String),
    #[error("The image file is corrupted or unreadable.")]
    Corrupted,
    #[error("It moves. Send a single frame.")]
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
    #[error("Behind its {0} there is another file. Send the picture alone.")]
    Followed(ImageFileFormat),
    /// The image cannot be encoded as requested: our bug, not the caller's.
    #[error("It cannot be written.")]
    Unwritable,
}
