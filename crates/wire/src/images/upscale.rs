//! `POST /image/upscale` and `POST /image/background-remove`.

use schemars::JsonSchema;
use serde::Deserialize;

/// A picture to be enlarged, as a form or as JSON.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ImageUpscaleRequest")]
pub struct UpscaleRequest {
    /// The picture: a file, base64 or a data URL. At least 65536 pixels; at most 16777216 once
    /// it is enlarged.
    #[schemars(extend("x-required" = true))]
    pub image: Option<String>,
    /// An upscale model's id, a trait or a compatible name; the default one unless said.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// How many times as wide and as high; 2 unless said. With 1 it is only improved, which needs
    /// `enhance`.
    #[schemars(range(min = 1, max = 4), extend("default" = 2.0))]
    pub scale: Option<f64>,
    /// Lets the model add detail.
    #[schemars(extend("default" = false))]
    pub enhance: Option<bool>,
    /// How much it may add; 0.5 unless said.
    #[serde(rename = "enhanceCreativity")]
    #[schemars(range(min = 0, max = 1))]
    pub enhance_creativity: Option<f64>,
    /// What to add, in words.
    #[serde(rename = "enhancePrompt")]
    #[schemars(length(max = 1500))]
    pub enhance_prompt: Option<String>,
    /// Accepted for compatibility and discarded.
    #[schemars(range(min = 0, max = 1))]
    pub replication: Option<f64>,
    /// The newer name of `enhanceCreativity`, from 0 to 0.02.
    #[schemars(range(min = 0, max = 1))]
    pub creativity: Option<f64>,
}

/// A picture whose background is to be removed, as a form or as JSON.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "BackgroundRemovalRequest")]
pub struct CutOutRequest {
    /// The picture: a file, base64 or a data URL.
    pub image: Option<String>,
    /// Where the picture is, instead of `image`.
    pub image_url: Option<String>,
    /// A model's id or a trait; the one for backgrounds unless said.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
}
