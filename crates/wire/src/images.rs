//! Image generation, editing, upscaling and background removal.

mod edit;
mod generate;
mod openai;
mod upscale;

pub use edit::{EditRequest, MultiEditRequest, OutputFormat};
pub use generate::{
    Generated, ImageFormat, ImageRequest, RequestEcho, StyleList, StyleReference, Timing,
};
pub use openai::{
    Background, Moderation, OpenAiEditRequest, OpenAiFormat, OpenAiImage, OpenAiImages,
    OpenAiQuality, OpenAiRequest, OpenAiSize, OpenAiStyle, ResponseFormat, VariationRequest,
};
pub use upscale::{CutOutRequest, UpscaleRequest};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The quality of a generated image. Higher quality takes more computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "PictureQuality")]
pub enum Quality {
    Low,
    Medium,
    High,
}
