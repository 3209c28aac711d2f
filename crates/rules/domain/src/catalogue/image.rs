//! Specifications of models that generate, edit or upscale images.

use super::ChoiceList;
use super::named::named;
use crate::pricing::{ImagePrice, InpaintPrice};

#[derive(Debug, Clone, PartialEq)]
pub struct ImageSpec {
    pub prompt_characters_max: u64,
    pub steps: StepLimits,
    /// Width and height must be multiples of this.
    pub width_height_divisor: u64,
    /// The minimum width and height that callers may request, in pixels.
    pub width_min: u32,
    pub height_min: u32,
    pub aspect_ratios: ChoiceList<String>,
    pub resolutions: ChoiceList<String>,
    pub qualities: ChoiceList<ImageQuality>,
    /// `None` if the model takes no style references.
    pub style_references: Option<StyleReferences>,
    pub web_search: bool,
    pub optimize_prompt_thinking: bool,
    pub price: ImagePrice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepLimits {
    pub default: u64,
    pub max: u64,
}

/// Images that a caller may send as style references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StyleReferences {
    pub max: u64,
    /// True if a caller may set the weight of each reference.
    pub strength: bool,
}

named! {
    /// Effort per image; the price may depend on it.
    pub enum ImageQuality {
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct UpscaleSpec {
    /// The same structure as an image model's price: generation and upscaling.
    pub price: ImagePrice,
}

#[derive(Debug, Clone, PartialEq)]
pub struct InpaintSpec {
    pub prompt_characters_max: u64,
    pub aspect_ratios: Vec<String>,
    pub resolutions: ChoiceList<String>,
    pub qualities: ChoiceList<ImageQuality>,
    /// True if several images can be combined into one.
    pub combine_images: bool,
    pub input_images_max: Option<u64>,
    /// True if an aspect ratio may be requested for a single image.
    pub single_image_aspect_ratio: bool,
    pub price: InpaintPrice,
}

/// Maximum images for a combining model without its own `input_images_max`.
const COMBINED_IMAGES_MAX: u64 = 3;

impl ImageSpec {
    /// True if callers set a width and a height instead of an aspect ratio or a resolution tier.
    pub fn is_sized_by_pixels(&self) -> bool {
        self.aspect_ratios.is_empty() && self.resolutions.is_empty()
    }
}

impl InpaintSpec {
    /// The maximum number of input images of one edit.
    pub fn images_max(&self) -> u64 {
        let otherwise = if self.combine_images { COMBINED_IMAGES_MAX } else { 1 };
        self.input_images_max.unwrap_or(otherwise)
    }
}
