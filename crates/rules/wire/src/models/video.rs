//! Video models.

use schemars::JsonSchema;
use serde::Serialize;

use super::spec::CommonSpec;

/// Video models have no listed price; `POST /video/quote` returns it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct VideoSpec {
    #[serde(flatten)]
    pub common: CommonSpec,
    pub constraints: VideoConstraints,
}

/// The options of a video model. An empty list means that the option is not supported.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct VideoConstraints {
    pub aspect_ratios: Vec<String>,
    pub resolutions: Vec<String>,
    pub durations: Vec<String>,
    pub model_type: VideoKind,
    /// True if the videos have sound.
    pub audio: bool,
    /// True if a request can disable the sound.
    pub audio_configurable: bool,
    pub prompt_character_limit: u64,
    /// True if a start image can be sent.
    pub image_input: bool,
    /// True if an audio file can be sent.
    pub audio_input: bool,
    /// True if each reference can have its own audio.
    pub per_reference_audio: bool,
    /// True if a video can be sent.
    pub video_input: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_image_min_short_side_pixels: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_image_min_aspect_ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_image_max_aspect_ratio: Option<f64>,
}

/// The input that a video model starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VideoKind {
    ImageToVideo,
    TextToVideo,
    Video,
}
