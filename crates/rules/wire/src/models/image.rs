//! Image generation, upscaling and editing models.

use schemars::JsonSchema;
use serde::Serialize;

use super::pricing::{ImagePricing, InpaintPricing};
use super::spec::CommonSpec;

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageSpec {
    #[serde(flatten)]
    pub common: CommonSpec,
    pub supports_style_references: bool,
    pub supports_web_search: bool,
    pub supports_optimize_prompt_thinking: bool,
    pub constraints: ImageConstraints,
    pub pricing: ImagePricing,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageConstraints {
    pub prompt_character_limit: u64,
    pub steps: Steps,
    /// Width and height must be multiples of this.
    pub width_height_divisor: u64,
    /// The minimum width in pixels. Absent for models that are sized by aspect ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_width: Option<u32>,
    /// The minimum height in pixels. Absent for models that are sized by aspect ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_height: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aspect_ratios: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_aspect_ratio: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolutions: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_resolution: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qualities: Option<Vec<Quality>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_quality: Option<Quality>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_style_references: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supports_style_reference_strength: Option<bool>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Steps {
    pub default: u64,
    pub max: u64,
}

/// The quality of a generated image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Quality {
    Low,
    Medium,
    High,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UpscaleSpec {
    #[serde(flatten)]
    pub common: CommonSpec,
    pub pricing: ImagePricing,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct InpaintSpec {
    #[serde(flatten)]
    pub common: CommonSpec,
    pub constraints: InpaintConstraints,
    pub pricing: InpaintPricing,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InpaintConstraints {
    pub aspect_ratios: Vec<String>,
    pub prompt_character_limit: u64,
    /// True if several images can be combined into one.
    pub combine_images: bool,
    /// The maximum number of images per edit. If absent: 3, or 1 if images cannot be combined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_input_images: Option<u64>,
    /// True if an aspect ratio can be requested for a single input image.
    pub single_image_aspect_ratio: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_resolution: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolutions: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qualities: Option<Vec<Quality>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_quality: Option<Quality>,
}
