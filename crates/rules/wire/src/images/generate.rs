//! `POST /image/generate` and `GET /image/styles`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::PictureQuality;

/// An image to generate.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub struct ImageGenerationRequest {
    /// An image model's id, a trait or a compatible name.
    #[schemars(length(min = 1))]
    pub model: String,
    /// A description of the image: 1 to 7500 characters. A model may have a lower limit.
    #[schemars(length(min = 1, max = 7500))]
    pub prompt: String,
    /// A description of content to avoid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 7500))]
    pub negative_prompt: Option<String>,
    /// The guidance scale: higher values follow the prompt more closely. Above 0, at most 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 20), extend("exclusiveMinimum" = 0))]
    pub cfg_scale: Option<f64>,
    /// Writes the generation parameters to the file's EXIF metadata. Otherwise files have no
    /// metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub embed_exif_metadata: Option<bool>,
    /// The file format. Default: `webp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "webp"))]
    pub format: Option<PictureFormat>,
    /// The width in pixels, for models that are sized by pixels; a multiple of the model's
    /// `widthHeightDivisor`. Default: 1024.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1280))]
    pub width: Option<u32>,
    /// The height in pixels; see `width`. Default: 1024.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1280))]
    pub height: Option<u32>,
    /// The aspect ratio, such as `16:9`, for models that list ratios.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16))]
    pub aspect_ratio: Option<String>,
    /// The resolution: `1K`, `2K` or `4K`, for models that list resolutions.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 10))]
    pub resolution: Option<String>,
    /// The quality, for models that list qualities. It affects the price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<PictureQuality>,
    /// Omits the visible watermark, if the service adds one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub hide_watermark: Option<bool>,
    /// Deprecated: any value is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("deprecated" = true))]
    pub inpaint: Option<Value>,
    /// The strength of LoRA adapters in percent, for models with adapters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub lora_strength: Option<u32>,
    /// Returns the image file instead of JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub return_binary: Option<bool>,
    /// The number of images to generate; each is billed. Cannot be combined with `return_binary`.
    /// Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4))]
    pub variants: Option<u32>,
    /// Blurs images classified as adult content. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub safe_mode: Option<bool>,
    /// The sampling seed; the same seed generates the same image. Only the first variant uses it.
    /// Default: random.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -999_999_999, max = 999_999_999))]
    pub seed: Option<i64>,
    /// The number of inference steps. Default: the model's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub steps: Option<u32>,
    /// The name of a style from `GET /image/styles`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub style_preset: Option<String>,
    /// Allows web search, for models that support it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enable_web_search: Option<bool>,
    /// Images whose style to follow, for models that accept them. Omitted from the echoed request.
    #[serde(skip_serializing)]
    #[schemars(length(max = 16))]
    pub style_references: Option<Vec<ImageStyleReference>>,
    /// True is refused: prompts are not rewritten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enhance_prompt: Option<bool>,
    /// Disables the model's reasoning about the prompt. Refused for models that reason and cannot
    /// be switched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disable_prompt_optimization_thinking: Option<bool>,
}

/// An image whose style to follow.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub struct ImageStyleReference {
    /// The image in base64, as a data URL or as a public URL.
    #[schemars(length(min = 1))]
    pub image: String,
    /// The weight of the reference. Default: 0.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.1, max = 1.0))]
    pub strength: Option<f64>,
}

/// The file format of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PictureFormat {
    Jpeg,
    Png,
    Webp,
}

/// The generated images.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ImageGenerationResult {
    pub id: String,
    /// The image files in base64.
    pub images: Vec<String>,
    pub timing: ImageTiming,
    /// The request, with the seed that was used.
    pub request: ImageRequestEcho,
}

/// The request as it was interpreted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ImageRequestEcho {
    /// Always true.
    pub success: bool,
    pub data: ImageGenerationRequest,
}

/// Durations in milliseconds.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageTiming {
    /// The time that the model ran.
    pub inference_duration: u64,
    /// The time before the request was sent to the model.
    pub inference_preprocessing_time: u64,
    /// The time in the model's queue, if the engine reports it.
    pub inference_queue_time: u64,
    pub total: u64,
}

/// The names of the available styles.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StyleList {
    /// Always `list`.
    pub object: &'static str,
    pub data: Vec<&'static str>,
}
