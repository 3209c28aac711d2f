//! Video models.

use schemars::JsonSchema;
use serde::Serialize;

use super::spec::CommonSpec;

/// Video models have no price here; `POST /video/quote` tells it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct VideoSpec {
    #[serde(flatten)]
    pub common: CommonSpec,
    pub constraints: VideoConstraints,
}

/// Video models. An empty list means that the option is not supported.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct VideoConstraints {
    pub aspect_ratios: Vec<String>,
    pub resolutions: Vec<String>,
    pub durations: Vec<String>,
    pub model_type: VideoKind,
    /// Whether the videos have sound.
    pub audio: bool,
    /// Whether a request can switch the sound off.
    pub audio_configurable: bool,
    pub prompt_character_limit: u64,
    /// Whether a picture to start from can be given.
    pub image_input: bool,
    /// Whether an audio file can be given.
    pub audio_input: bool,
    /// Whether each reference can have audio of its own.
    pub per_reference_audio: bool,
    /// Whether a video can be given.
    pub video_input: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_image_min_short_side_pixels: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_image_min_aspect_ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_image_max_aspect_ratio: Option<f64>,
}

/// What a video model starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VideoKind {
    ImageToVideo,
    TextToVideo,
    Video,
}
