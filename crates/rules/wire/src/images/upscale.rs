//! `POST /image/upscale` and `POST /image/background-remove`.

use schemars::JsonSchema;
use serde::Deserialize;

/// An image to upscale, as multipart form data or JSON.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ImageUpscaleRequest {
    /// The image: a file, base64 or a data URL. At least 65536 pixels, and at most 16777216 after
    /// upscaling.
    #[schemars(extend("x-required" = true))]
    pub image: Option<String>,
    /// An upscale model's id, a trait or a compatible name. Default: the default upscale model.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// The factor by which width and height are multiplied. 1 only enhances the image and requires
    /// `enhance`. Default: 2.
    #[schemars(range(min = 1, max = 4), extend("default" = 2.0))]
    pub scale: Option<f64>,
    /// Lets the model add detail. Default: false.
    #[schemars(extend("default" = false))]
    pub enhance: Option<bool>,
    /// The amount of detail that the model may add with `enhance`. Default: 0.5.
    #[serde(rename = "enhanceCreativity")]
    #[schemars(range(min = 0, max = 1))]
    pub enhance_creativity: Option<f64>,
    /// A description of the detail to add with `enhance`.
    #[serde(rename = "enhancePrompt")]
    #[schemars(length(max = 1500))]
    pub enhance_prompt: Option<String>,
    /// Accepted for compatibility and discarded.
    #[schemars(range(min = 0, max = 1))]
    pub replication: Option<f64>,
    /// The amount of detail to add without `enhance`, usually 0 to 0.02. Ignored if `enhance` is
    /// true.
    #[schemars(range(min = 0, max = 1))]
    pub creativity: Option<f64>,
}

/// An image whose background is to be removed, as multipart form data or JSON.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct BackgroundRemovalRequest {
    /// The image: a file, base64 or a data URL.
    pub image: Option<String>,
    /// The public URL of the image. Alternative to `image`.
    pub image_url: Option<String>,
    /// A model's id or a trait. Default: the default background removal model.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
}
