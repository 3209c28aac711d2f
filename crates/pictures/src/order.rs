//! The operations on one image.

use image::DynamicImage;
use serde::{Deserialize, Serialize};

use crate::decode::decode;
use crate::encode;
use crate::fault::Fault;
use crate::head::{Format, Head, inspect};
use crate::look;
use crate::tail;

/// Width and height in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    pub width: u32,
    pub height: u32,
}

impl Size {
    pub fn pixels(self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}

/// Limits of an image's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    pub pixels_min: u64,
    pub pixels_max: u64,
    pub side_min: u32,
}

/// The operations, performed in the order of the fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    pub bounds: Bounds,
    /// Rejects files with another file appended; for files of callers.
    pub is_strict: bool,
    pub resize: Option<Resize>,
    /// Makes the image unrecognisable.
    pub blur: bool,
    /// A short watermark text in a corner.
    pub mark: Option<String>,
    pub write: Writing,
    /// The only metadata written to the file.
    pub facts: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Resize {
    /// Resizes to exactly this size, stretching if the aspect ratio differs.
    To(Size),
    /// Resizes to exactly this size, cropping evenly at two sides if necessary.
    Cover(Size),
    /// Crops evenly at two sides to the aspect ratio of these sides, without scaling. A nearly
    /// equal ratio is kept, because models round their sides.
    Form(Size),
    /// Limits the longer side; the aspect ratio is kept.
    Within(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Writing {
    As(Format),
    /// Lossless if small enough to be forwarded, otherwise a high-quality JPEG.
    ForEngines,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub file: Vec<u8>,
    pub format: Format,
    pub size: Size,
}

/// Decodes an image and encodes it as ordered.
pub fn carry_out(order: &Order, bytes: &[u8]) -> Result<Outcome, Fault> {
    let head = inspect(bytes)?;
    order.bounds.check(head.size)?;
    if order.is_strict {
        check_alone(bytes, head)?;
    }
    if tail::is_cut_short(bytes, head.format) {
        return Err(Fault::Corrupted);
    }
    let mut picture = decode(bytes, head)?;
    if let Some(resize) = order.resize {
        picture = look::resized(picture, resize);
    }
    if order.blur {
        picture = look::blurred(&picture);
    }
    if let Some(mark) = &order.mark {
        look::mark(&mut picture, mark);
    }
    encode::write(&picture, order.write, order.facts.as_deref())
}

/// Returns a black image.
pub fn black(size: Size, format: Format) -> Result<Outcome, Fault> {
    let picture = DynamicImage::new_rgb8(size.width, size.height);
    encode::write(&picture, Writing::As(format), None)
}

fn check_alone(bytes: &[u8], head: Head) -> Result<(), Fault> {
    if head.is_animated {
        return Err(Fault::Animated);
    }
    if tail::is_followed(bytes, head.format) {
        return Err(Fault::Followed(head.format));
    }
    Ok(())
}

impl Bounds {
    pub fn check(&self, size: Size) -> Result<(), Fault> {
        if self.pixels_max < size.pixels() {
            return Err(Fault::TooManyPixels { size, most: self.pixels_max });
        }
        if size.width.min(size.height) < self.side_min {
            return Err(Fault::SideTooShort { size, least: self.side_min });
        }
        if size.pixels() < self.pixels_min {
            return Err(Fault::TooFewPixels { size, least: self.pixels_min });
        }
        Ok(())
    }
}
