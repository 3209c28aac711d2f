//! What is to be done with one picture.

use image::DynamicImage;
use serde::{Deserialize, Serialize};

use crate::decode::decode;
use crate::encode;
use crate::fault::Fault;
use crate::head::{Format, Head, inspect};
use crate::look;
use crate::tail;

/// In pixels.
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

/// How small and how large a picture may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    pub pixels_min: u64,
    pub pixels_max: u64,
    pub side_min: u32,
}

/// The acts are done in the order of the fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    pub bounds: Bounds,
    /// A file that is the caller's must be nothing but a picture.
    pub is_strict: bool,
    pub resize: Option<Resize>,
    /// Beyond recognition.
    pub blur: bool,
    /// A few letters in a corner.
    pub mark: Option<String>,
    pub write: Writing,
    /// What is told about the picture inside of its file; nothing else is.
    pub facts: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Resize {
    /// Exactly this size afterwards: the picture is stretched where its form is another.
    To(Size),
    /// Exactly this size afterwards: what does not fit is cut off evenly at two sides.
    Cover(Size),
    /// The form of these sides afterwards, at the picture's own scale: what does not fit is cut off
    /// evenly at two sides. A form that is nearly the same stays, as models round their sides.
    Form(Size),
    /// No side is longer than this afterwards; the form stays.
    Within(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Writing {
    As(Format),
    /// Without a loss where that stays small enough to be sent on, and as a fine JPEG otherwise.
    ForEngines,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub file: Vec<u8>,
    pub format: Format,
    pub size: Size,
}

/// Reads a picture and writes it as the order says.
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

/// A picture on which nothing is to be seen.
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
