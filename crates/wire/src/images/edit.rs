//! `POST /image/edit` and `POST /image/multi-edit`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Quality;

/// A picture to be changed, as a form or as JSON.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ImageEditRequest")]
pub struct EditRequest {
    /// The picture: a file, base64, a data URL, or an http or https URL. PNG, JPEG or WebP, of at
    /// most 25 MB and of 65536 to 33177600 pixels.
    #[schemars(extend("x-required" = true))]
    pub image: Option<String>,
    /// What to change, of 1 to 32768 characters; a model may take fewer.
    #[schemars(length(min = 1, max = 32768))]
    pub prompt: String,
    /// An edit model's id, a trait or a compatible name; the default one unless said.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// Deprecated: another name of `model`.
    #[serde(rename = "modelId")]
    #[schemars(length(min = 1), extend("deprecated" = true))]
    pub model_id: Option<String>,
    /// One of the model's ratios; `auto`, or none, keeps that of the picture.
    #[schemars(length(min = 1, max = 16))]
    pub aspect_ratio: Option<String>,
    /// Such as `1K`, `2K` or `4K`, for models that list resolutions; others make `1K`.
    #[schemars(length(min = 1, max = 10))]
    pub resolution: Option<String>,
    /// For models that list qualities; the price goes by it.
    pub quality: Option<Quality>,
    /// PNG for `1K` and JPEG beyond, unless said.
    pub output_format: Option<OutputFormat>,
    /// Default: true. Blurs what is found to be for adults.
    #[schemars(extend("default" = true))]
    pub safe_mode: Option<bool>,
    /// Refused if true: no prompt is rewritten here.
    pub enhance_prompt: Option<bool>,
    /// Without effect: no edit model of this service thinks about a prompt before it begins.
    pub disable_prompt_optimization_thinking: Option<bool>,
}

/// Several pictures to be made into one, as a form or as JSON.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ImageMultiEditRequest")]
pub struct MultiEditRequest {
    /// The pictures, each as `image` of an edit; the first is what is changed.
    #[schemars(length(min = 1, max = 16), extend("x-required" = true))]
    pub images: Option<Vec<String>>,
    /// What to change, of 1 to 32768 characters; a model may take fewer.
    #[schemars(length(min = 1, max = 32768))]
    pub prompt: String,
    /// An edit model's id, a trait or a compatible name; the default one unless said.
    #[serde(rename = "modelId")]
    #[schemars(length(min = 1))]
    pub model_id: Option<String>,
    /// Another name of `modelId`.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// One of the model's ratios; `auto`, or none, keeps that of the first picture.
    #[schemars(length(min = 1, max = 16))]
    pub aspect_ratio: Option<String>,
    /// Such as `1K`, `2K` or `4K`; models without resolutions pass it over.
    #[schemars(length(min = 1, max = 10))]
    pub resolution: Option<String>,
    /// For models that list qualities; the price goes by it.
    pub quality: Option<Quality>,
    /// PNG for `1K` and JPEG beyond, unless said.
    pub output_format: Option<OutputFormat>,
    /// Default: true. Blurs what is found to be for adults.
    #[schemars(extend("default" = true))]
    pub safe_mode: Option<bool>,
    /// Refused if true: no prompt is rewritten here.
    pub enhance_prompt: Option<bool>,
    /// Without effect: no edit model of this service thinks about a prompt before it begins.
    pub disable_prompt_optimization_thinking: Option<bool>,
}

/// How an edited picture is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutputFormat {
    Jpeg,
    /// The same as `jpeg`.
    Jpg,
    Png,
    Webp,
}
