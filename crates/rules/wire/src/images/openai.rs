//! `POST /images/generations`, `POST /images/edits` and `POST /images/variations`, compatible with
//! OpenAI's clients.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An image to generate.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct OpenAiImageRequest {
    /// A description of the image: 1 to 1500 characters.
    #[schemars(length(min = 1, max = 1500))]
    pub prompt: String,
    /// An image model's id, a trait or a compatible name. Unknown names select the default image
    /// model.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// Always 1.
    #[schemars(range(min = 1, max = 1), extend("default" = 1))]
    pub n: Option<u32>,
    /// The exact size of the image. Models that are sized by aspect ratio generate the nearest
    /// ratio, and the image is cropped. Default: `auto`, the model's own size.
    #[schemars(extend("default" = "auto"))]
    pub size: Option<OpenAiSize>,
    /// `url` returns a data URL. Default: `b64_json`.
    #[schemars(extend("default" = "b64_json"))]
    pub response_format: Option<OpenAiImageResponseFormat>,
    /// The file format. Default: `png`.
    #[schemars(extend("default" = "png"))]
    pub output_format: Option<OpenAiFormat>,
    /// `low` disables safe mode.
    pub moderation: Option<Moderation>,
    /// The quality, for models that list qualities.
    pub quality: Option<OpenAiQuality>,
    /// Accepted for compatibility and discarded.
    pub style: Option<OpenAiStyle>,
    /// Accepted for compatibility and discarded.
    pub background: Option<OpenAiBackground>,
    /// Accepted for compatibility and discarded.
    #[schemars(range(min = 0, max = 100))]
    pub output_compression: Option<u32>,
    /// Accepted for compatibility and discarded.
    pub user: Option<String>,
}

/// Images to edit, as multipart form data.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct OpenAiImageEditRequest {
    /// One or several images as files.
    #[schemars(extend("format" = "binary", "x-required" = true))]
    pub image: Option<String>,
    /// An image file whose transparent areas mark the parts that may change.
    #[schemars(extend("format" = "binary"))]
    pub mask: Option<String>,
    /// The changes to make: 1 to 32768 characters. A model may have a lower limit.
    #[schemars(length(min = 1, max = 32768))]
    pub prompt: String,
    /// An edit model's id, a trait or a compatible name. Unknown names select the default edit
    /// model.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// Always 1.
    #[schemars(range(min = 1, max = 1), extend("default" = 1))]
    pub n: Option<u32>,
    /// The exact size of the result. Default: `auto`, which keeps the aspect ratio of the image.
    #[schemars(extend("default" = "auto"))]
    pub size: Option<OpenAiSize>,
    /// `url` returns a data URL. Default: `b64_json`.
    #[schemars(extend("default" = "b64_json"))]
    pub response_format: Option<OpenAiImageResponseFormat>,
    /// The file format. Default: `png`.
    #[schemars(extend("default" = "png"))]
    pub output_format: Option<OpenAiFormat>,
    /// The quality, for models that list qualities.
    pub quality: Option<OpenAiQuality>,
    /// Accepted for compatibility and discarded.
    pub background: Option<OpenAiBackground>,
    /// Accepted for compatibility and discarded.
    #[schemars(range(min = 0, max = 100))]
    pub output_compression: Option<u32>,
    /// Accepted for compatibility and discarded.
    pub user: Option<String>,
}

/// An image to vary, as multipart form data.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct OpenAiImageVariationRequest {
    /// The image as a file.
    #[schemars(extend("format" = "binary", "x-required" = true))]
    pub image: Option<String>,
    /// An edit model's id, a trait or a compatible name. Unknown names select the default edit
    /// model.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// Always 1.
    #[schemars(range(min = 1, max = 1), extend("default" = 1))]
    pub n: Option<u32>,
    /// `url` returns a data URL. Default: `b64_json`.
    #[schemars(extend("default" = "b64_json"))]
    pub response_format: Option<OpenAiImageResponseFormat>,
    /// The file format. Default: `png`.
    #[schemars(extend("default" = "png"))]
    pub output_format: Option<OpenAiFormat>,
    /// Accepted for compatibility and discarded: a variation keeps the aspect ratio of its image.
    pub size: Option<OpenAiSize>,
    /// Accepted for compatibility and discarded.
    pub user: Option<String>,
}

/// Image sizes in OpenAI's API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum OpenAiSize {
    #[serde(rename = "auto")]
    Auto,
    #[serde(rename = "256x256")]
    Small,
    #[serde(rename = "512x512")]
    Medium,
    #[serde(rename = "1024x1024")]
    Square,
    #[serde(rename = "1536x1024")]
    Landscape,
    #[serde(rename = "1024x1536")]
    Portrait,
    #[serde(rename = "1792x1024")]
    Wide,
    #[serde(rename = "1024x1792")]
    Tall,
}

/// The encoding of a returned image.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OpenAiImageResponseFormat {
    #[default]
    B64Json,
    Url,
}

/// The file format of an image.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OpenAiFormat {
    Jpeg,
    #[default]
    Png,
    Webp,
}

/// The strictness of moderation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Moderation {
    Auto,
    Low,
}

/// Image quality, in OpenAI's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OpenAiQuality {
    Auto,
    High,
    Medium,
    Low,
    Hd,
    Standard,
}

/// Accepted for compatibility and discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OpenAiStyle {
    Vivid,
    Natural,
}

/// Accepted for compatibility and discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OpenAiBackground {
    Transparent,
    Opaque,
    Auto,
}

/// The generated images.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OpenAiImages {
    /// The creation time in Unix seconds.
    pub created: i64,
    pub data: Vec<OpenAiImage>,
}

/// One image in the requested encoding.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OpenAiImage {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b64_json: Option<String>,
    /// A data URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}
