//! The operations on one image.

use image::DynamicImage;
use serde::{Deserialize, Serialize};

use crate::decode::decode_image;
use crate::encode;
use crate::fault::ImageFault;
use crate::header::{ImageFileFormat, ImageHeader, inspect_image};
use crate::trailing_data;
use crate::transform;

/// Width and height in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PixelSize {
    pub width: u32,
    pub height: u32,
}

impl PixelSize {
    pub fn pixels(self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}

/// Limits of an image's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageBounds {
    pub pixels_min: u64,
    pub pixels_max: u64,
    pub side_min: u32,
}

/// The operations, performed in the order of the fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageOperations {
    pub bounds: ImageBounds,
    /// Rejects files with another file appended; for files of callers.
    pub is_strict: bool,
    pub resize: Option<ResizeMode>,
    /// Makes the image unrecognisable.
    pub blur: bool,
    /// A short watermark text in a corner.
    pub mark: Option<String>,
    pub write: ImageEncoding,
    /// The only metadata written to the file.
    pub facts: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResizeMode {
    /// Resizes to exactly this size, stretching if the aspect ratio differs.
    To(PixelSize),
    /// Resizes to exactly this size, cropping evenly at two sides if necessary.
    Cover(PixelSize),
    /// Crops evenly at two sides to the aspect ratio of these sides, without scaling. A nearly
    /// equal ratio is kept, because models round their sides.
    Form(PixelSize),
    /// Limits the longer side; the aspect ratio is kept.
    Within(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ImageEncoding {
    As(ImageFileFormat),
    /// Lossless if small enough to be forwarded, otherwise a high-quality JPEG.
    ForEngines,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessedImage {
    pub file: Vec<u8>,
    pub format: ImageFileFormat,
    pub size: PixelSize,
}

/// Decodes an image and encodes it as ordered.
pub fn process_image(order: &ImageOperations, bytes: &[u8]) -> Result<ProcessedImage, ImageFault> {
    let head = inspect_image(bytes)?;
    order.bounds.check_size(head.size)?;
    if order.is_strict {
        check_single_image(bytes, head)?;
    }
    if trailing_data::is_cut_short(bytes, head.format) {
        return Err(ImageFault::Corrupted);
    }
    let mut picture = decode_image(bytes, head)?;
    if let Some(resize) = order.resize {
        picture = transform::resize_image(picture, resize);
    }
    if order.blur {
        picture = transform::blur_image(&picture);
    }
    if let Some(mark) = &order.mark {
        transform::draw_watermark(&mut picture, mark);
    }
    encode::encode_image(&picture, order.write, order.facts.as_deref())
}

/// Returns a black image.
pub fn encode_black_image(
    size: PixelSize,
    format: ImageFileFormat,
) -> Result<ProcessedImage, ImageFault> {
    let picture = DynamicImage::new_rgb8(size.width, size.height);
    encode::encode_image(&picture, ImageEncoding::As(format), None)
}

fn check_single_image(bytes: &[u8], head: ImageHeader) -> Result<(), ImageFault> {
    if head.is_animated {
        return Err(ImageFault::Animated);
    }
    if trailing_data::has_second_file(bytes, head.format) {
        return Err(ImageFault::Followed(head.format));
    }
    Ok(())
}

impl ImageBounds {
    pub fn check_size(&self, size: PixelSize) -> Result<(), ImageFault> {
        if self.pixels_max < size.pixels() {
            return Err(ImageFault::TooManyPixels { size, most: self.pixels_max });
        }
        if size.width.min(size.height) < self.side_min {
            return Err(ImageFault::SideTooShort { size, least: self.side_min });
        }
        if size.pixels() < self.pixels_min {
            return Err(ImageFault::TooFewPixels { size, least: self.pixels_min });
        }
        Ok(())
    }
}
