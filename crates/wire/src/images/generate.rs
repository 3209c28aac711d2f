//! `POST /image/generate` and `GET /image/styles`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Quality;

/// A picture to be made.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[schemars(rename = "ImageGenerationRequest")]
pub struct ImageRequest {
    /// An image model's id, a trait or a compatible name.
    #[schemars(length(min = 1))]
    pub model: String,
    /// What to show, of 1 to 7500 characters; a model may take fewer.
    #[schemars(length(min = 1, max = 7500))]
    pub prompt: String,
    /// What not to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 7500))]
    pub negative_prompt: Option<String>,
    /// How closely to follow the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 20), extend("exclusiveMinimum" = 0))]
    pub cfg_scale: Option<f64>,
    /// Writes what the picture was made from into its file; without it no file says anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub embed_exif_metadata: Option<bool>,
    /// `webp` unless said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "webp"))]
    pub format: Option<ImageFormat>,
    /// 1024 unless said; for models that are sized by pixels, in steps of the model's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1280))]
    pub width: Option<u32>,
    /// As `width`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1280))]
    pub height: Option<u32>,
    /// Such as `16:9`, for models that list ratios.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16))]
    pub aspect_ratio: Option<String>,
    /// `1K`, `2K` or `4K`, for models that list resolutions.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 10))]
    pub resolution: Option<String>,
    /// For models that list qualities; the price goes by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<Quality>,
    /// Leaves out the visible mark, where the service has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub hide_watermark: Option<bool>,
    /// Deprecated and disabled: it is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("deprecated" = true))]
    pub inpaint: Option<Value>,
    /// In percent, for models with adapters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub lora_strength: Option<u32>,
    /// Answers with the picture itself instead of JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub return_binary: Option<bool>,
    /// How many pictures, each of them paid for; only without `return_binary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4))]
    pub variants: Option<u32>,
    /// Blurs what is found to be for adults; true unless said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub safe_mode: Option<bool>,
    /// The same seed makes the same picture; any seed unless said. Only the first variant has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -999_999_999, max = 999_999_999))]
    pub seed: Option<i64>,
    /// The model's own number unless said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub steps: Option<u32>,
    /// One of the names that `GET /image/styles` lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub style_preset: Option<String>,
    /// Lets models that can look things up do so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enable_web_search: Option<bool>,
    /// Pictures whose style the new one shall have, for models that take them. The echo of the
    /// request leaves them out.
    #[serde(skip_serializing)]
    #[schemars(length(max = 16))]
    pub style_references: Option<Vec<StyleReference>>,
    /// No prompt is rewritten here: `true` is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enhance_prompt: Option<bool>,
    /// Keeps a model from thinking about the prompt first. Refused where a model does so and cannot
    /// be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disable_prompt_optimization_thinking: Option<bool>,
}

/// A picture whose style a new one shall have.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[schemars(rename = "ImageStyleReference")]
pub struct StyleReference {
    /// In base64, as a data URL, or under an address.
    #[schemars(length(min = 1))]
    pub image: String,
    /// How much it counts; 0.5 unless said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.1, max = 1.0))]
    pub strength: Option<f64>,
}

/// How a picture is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "PictureFormat")]
pub enum ImageFormat {
    Jpeg,
    Png,
    Webp,
}

/// What was made.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ImageGenerationResult")]
pub struct Generated {
    pub id: String,
    /// The pictures' files in base64.
    pub images: Vec<String>,
    pub timing: Timing,
    /// What was asked for, with the seed that was used.
    pub request: RequestEcho,
}

/// The request as it was understood.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ImageRequestEcho")]
pub struct RequestEcho {
    /// Always true.
    pub success: bool,
    pub data: ImageRequest,
}

/// How long things took, in milliseconds.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ImageTiming")]
pub struct Timing {
    /// From the model's beginning to its end.
    pub inference_duration: u64,
    /// Before the model was asked.
    pub inference_preprocessing_time: u64,
    /// Waiting for the model, as far as it tells.
    pub inference_queue_time: u64,
    pub total: u64,
}

/// The styles that a request may name.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StyleList {
    /// Always `list`.
    pub object: &'static str,
    pub data: Vec<&'static str>,
}
