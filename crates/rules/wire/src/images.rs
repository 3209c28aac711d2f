//! Image generation, editing, upscaling and background removal.

mod edit;
mod generate;
mod openai;
mod upscale;

pub use edit::{ImageEditRequest, ImageMultiEditRequest, OutputFormat};
pub use generate::{
    ImageGenerationRequest, ImageGenerationResult, ImageRequestEcho, ImageStyleReference,
    ImageTiming, PictureFormat, StyleList,
};
pub use openai::{
    Moderation, OpenAiBackground, OpenAiFormat, OpenAiImage, OpenAiImageEditRequest,
    OpenAiImageRequest, OpenAiImageResponseFormat, OpenAiImageVariationRequest, OpenAiImages,
    OpenAiQuality, OpenAiSize, OpenAiStyle,
};
pub use upscale::{BackgroundRemovalRequest, ImageUpscaleRequest};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The quality of a generated image. Higher quality takes more computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PictureQuality {
    Low,
    Medium,
    High,
}
