//! What models that make, edit or enlarge images are and can do.

use super::Choices;
use super::named::named;
use crate::pricing::{ImagePrice, InpaintPrice};

#[derive(Debug, Clone, PartialEq)]
pub struct ImageSpec {
    pub prompt_characters_max: u64,
    pub steps: Steps,
    /// Width and height must be multiples of this.
    pub width_height_divisor: u64,
    /// The least width and height that can be asked for, in pixels.
    pub width_min: u32,
    pub height_min: u32,
    pub aspect_ratios: Choices<String>,
    pub resolutions: Choices<String>,
    pub qualities: Choices<Quality>,
    /// `None` when the model takes no style references.
    pub style_references: Option<StyleReferences>,
    pub web_search: bool,
    pub optimize_prompt_thinking: bool,
    pub price: ImagePrice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steps {
    pub default: u64,
    pub max: u64,
}

/// Images whose style a caller may point at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StyleReferences {
    pub max: u64,
    /// Whether a caller may say how strongly each one counts.
    pub strength: bool,
}

named! {
    /// How much work goes into one image; the price may go by it.
    pub enum Quality {
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct UpscaleSpec {
    /// The same shape as an image model's price: one image, and enlarging it.
    pub price: ImagePrice,
}

#[derive(Debug, Clone, PartialEq)]
pub struct InpaintSpec {
    pub prompt_characters_max: u64,
    pub aspect_ratios: Vec<String>,
    pub resolutions: Choices<String>,
    pub qualities: Choices<Quality>,
    /// Whether several images can be combined into one.
    pub combine_images: bool,
    pub input_images_max: Option<u64>,
    /// Whether an aspect ratio can be asked for when there is only one image.
    pub single_image_aspect_ratio: bool,
    pub price: InpaintPrice,
}

/// Without a limit of its own a model that combines takes this many images.
const COMBINED_IMAGES_MAX: u64 = 3;

impl ImageSpec {
    /// Whether callers ask for a width and a height, rather than a ratio or a tier.
    pub fn is_sized_by_pixels(&self) -> bool {
        self.aspect_ratios.is_empty() && self.resolutions.is_empty()
    }
}

impl InpaintSpec {
    /// How many images one edit takes.
    pub fn images_max(&self) -> u64 {
        let otherwise = if self.combine_images { COMBINED_IMAGES_MAX } else { 1 };
        self.input_images_max.unwrap_or(otherwise)
    }
}
