//! `POST /image/edit` and `POST /image/multi-edit`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::PictureQuality;

/// An image to edit, as multipart form data or JSON.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ImageEditRequest {
    /// The image: a file, base64, a data URL, or an http or https URL. PNG, JPEG or WebP of at most
    /// 25 MB and 65536 to 33177600 pixels.
    #[schemars(extend("x-required" = true))]
    pub image: Option<String>,
    /// The changes to make: 1 to 32768 characters. A model may have a lower limit.
    #[schemars(length(min = 1, max = 32768))]
    pub prompt: String,
    /// An edit model's id, a trait or a compatible name. Default: the default edit model.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// Deprecated name of `model`.
    #[serde(rename = "modelId")]
    #[schemars(length(min = 1), extend("deprecated" = true))]
    pub model_id: Option<String>,
    /// One of the model's aspect ratios. Default: `auto`, the ratio of the input image.
    #[schemars(length(min = 1, max = 16))]
    pub aspect_ratio: Option<String>,
    /// The resolution, such as `1K`, `2K` or `4K`, for models that list resolutions. Other models
    /// produce `1K`.
    #[schemars(length(min = 1, max = 10))]
    pub resolution: Option<String>,
    /// The quality, for models that list qualities. It affects the price.
    pub quality: Option<PictureQuality>,
    /// The file format. Default: PNG for `1K`, JPEG for higher resolutions.
    pub output_format: Option<OutputFormat>,
    /// Blurs images classified as adult content. Default: true.
    #[schemars(extend("default" = true))]
    pub safe_mode: Option<bool>,
    /// True is refused: prompts are not rewritten.
    pub enhance_prompt: Option<bool>,
    /// No effect: the service's edit models do not reason about the prompt.
    pub disable_prompt_optimization_thinking: Option<bool>,
}

/// Several images to combine into one, as multipart form data or JSON.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ImageMultiEditRequest {
    /// The images, each in the format of `image` in `POST /image/edit`. The first is the one to
    /// edit.
    #[schemars(length(min = 1, max = 16), extend("x-required" = true))]
    pub images: Option<Vec<String>>,
    /// The changes to make: 1 to 32768 characters. A model may have a lower limit.
    #[schemars(length(min = 1, max = 32768))]
    pub prompt: String,
    /// An edit model's id, a trait or a compatible name. Default: the default edit model.
    #[serde(rename = "modelId")]
    #[schemars(length(min = 1))]
    pub model_id: Option<String>,
    /// Another name of `modelId`.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// One of the model's aspect ratios. Default: `auto`, the ratio of the first image.
    #[schemars(length(min = 1, max = 16))]
    pub aspect_ratio: Option<String>,
    /// The resolution, such as `1K`, `2K` or `4K`. Ignored by models without resolutions.
    #[schemars(length(min = 1, max = 10))]
    pub resolution: Option<String>,
    /// The quality, for models that list qualities. It affects the price.
    pub quality: Option<PictureQuality>,
    /// The file format. Default: PNG for `1K`, JPEG for higher resolutions.
    pub output_format: Option<OutputFormat>,
    /// Blurs images classified as adult content. Default: true.
    #[schemars(extend("default" = true))]
    pub safe_mode: Option<bool>,
    /// True is refused: prompts are not rewritten.
    pub enhance_prompt: Option<bool>,
    /// No effect: the service's edit models do not reason about the prompt.
    pub disable_prompt_optimization_thinking: Option<bool>,
}

/// The file format of an edited image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutputFormat {
    Jpeg,
    /// The same as `jpeg`.
    Jpg,
    Png,
    Webp,
}
