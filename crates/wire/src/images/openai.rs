//! `POST /images/generations`, `POST /images/edits` and `POST /images/variations`, as OpenAI's
//! clients know them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A picture to be made.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "OpenAiImageRequest")]
pub struct OpenAiRequest {
    /// What to show, of 1 to 1500 characters.
    #[schemars(length(min = 1, max = 1500))]
    pub prompt: String,
    /// An image model's id, a trait or a compatible name. A name that nobody knows is the default
    /// image model.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// Always 1.
    #[schemars(range(min = 1, max = 1), extend("default" = 1))]
    pub n: Option<u32>,
    /// Default: `auto`, the model's own. The picture has exactly this size: models that are sized by
    /// ratios make the nearest, and what does not fit is cut off.
    #[schemars(extend("default" = "auto"))]
    pub size: Option<OpenAiSize>,
    /// `b64_json` unless said; `url` gives a data URL.
    #[schemars(extend("default" = "b64_json"))]
    pub response_format: Option<ResponseFormat>,
    /// `png` unless said.
    #[schemars(extend("default" = "png"))]
    pub output_format: Option<OpenAiFormat>,
    /// `low` leaves safe mode off.
    pub moderation: Option<Moderation>,
    /// For models that list qualities.
    pub quality: Option<OpenAiQuality>,
    /// Accepted for compatibility and discarded.
    pub style: Option<OpenAiStyle>,
    /// Accepted for compatibility and discarded.
    pub background: Option<Background>,
    /// Accepted for compatibility and discarded.
    #[schemars(range(min = 0, max = 100))]
    pub output_compression: Option<u32>,
    /// Accepted for compatibility and discarded.
    pub user: Option<String>,
}

/// Pictures to be changed, as a form.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "OpenAiImageEditRequest")]
pub struct OpenAiEditRequest {
    /// One picture as a file, or several.
    #[schemars(extend("format" = "binary", "x-required" = true))]
    pub image: Option<String>,
    /// A picture whose transparent parts may change, as a file.
    #[schemars(extend("format" = "binary"))]
    pub mask: Option<String>,
    /// What to change, of 1 to 32768 characters; a model may take fewer.
    #[schemars(length(min = 1, max = 32768))]
    pub prompt: String,
    /// An edit model's id, a trait or a compatible name. A name that nobody knows is the default
    /// edit model.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// Always 1.
    #[schemars(range(min = 1, max = 1), extend("default" = 1))]
    pub n: Option<u32>,
    /// Default: `auto`, which keeps the ratio of the picture. Any other is the exact size of the
    /// result.
    #[schemars(extend("default" = "auto"))]
    pub size: Option<OpenAiSize>,
    /// `b64_json` unless said; `url` gives a data URL.
    #[schemars(extend("default" = "b64_json"))]
    pub response_format: Option<ResponseFormat>,
    /// `png` unless said.
    #[schemars(extend("default" = "png"))]
    pub output_format: Option<OpenAiFormat>,
    /// For models that list qualities.
    pub quality: Option<OpenAiQuality>,
    /// Accepted for compatibility and discarded.
    pub background: Option<Background>,
    /// Accepted for compatibility and discarded.
    #[schemars(range(min = 0, max = 100))]
    pub output_compression: Option<u32>,
    /// Accepted for compatibility and discarded.
    pub user: Option<String>,
}

/// A picture to be varied, as a form.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "OpenAiImageVariationRequest")]
pub struct VariationRequest {
    /// The picture, as a file.
    #[schemars(extend("format" = "binary", "x-required" = true))]
    pub image: Option<String>,
    /// An edit model's id, a trait or a compatible name. A name that nobody knows is the default
    /// edit model.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// Always 1.
    #[schemars(range(min = 1, max = 1), extend("default" = 1))]
    pub n: Option<u32>,
    /// `b64_json` unless said; `url` gives a data URL.
    #[schemars(extend("default" = "b64_json"))]
    pub response_format: Option<ResponseFormat>,
    /// `png` unless said.
    #[schemars(extend("default" = "png"))]
    pub output_format: Option<OpenAiFormat>,
    /// Accepted for compatibility and discarded: a variation keeps the ratio of its picture.
    pub size: Option<OpenAiSize>,
    /// Accepted for compatibility and discarded.
    pub user: Option<String>,
}

/// Sizes that OpenAI's models make.
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

/// How a picture is handed over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "OpenAiImageResponseFormat")]
pub enum ResponseFormat {
    #[default]
    B64Json,
    Url,
}

/// How a picture is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OpenAiFormat {
    Jpeg,
    #[default]
    Png,
    Webp,
}

/// How strictly pictures are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Moderation {
    Auto,
    Low,
}

/// How much work goes into a picture, in OpenAI's words.
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

/// Accepted for compatibility.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OpenAiStyle {
    Vivid,
    Natural,
}

/// Accepted for compatibility.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "OpenAiBackground")]
pub enum Background {
    Transparent,
    Opaque,
    Auto,
}

/// What was made.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OpenAiImages {
    /// Unix seconds.
    pub created: i64,
    pub data: Vec<OpenAiImage>,
}

/// One picture, in the form that was asked for.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OpenAiImage {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b64_json: Option<String>,
    /// A data URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}
