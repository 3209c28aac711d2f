//! Transcription, speech and music models.

use schemars::JsonSchema;
use serde::Serialize;

use super::pricing::{AsrPricing, MusicPricing, TtsPricing};
use super::spec::CommonSpec;

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AsrSpec {
    #[serde(flatten)]
    pub common: CommonSpec,
    pub pricing: AsrPricing,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TtsSpec {
    #[serde(flatten)]
    pub common: CommonSpec,
    pub voices: Vec<String>,
    /// The voice used if a request does not name one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_voice: Option<String>,
    pub supported_formats: Vec<AudioFormat>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_format: Option<AudioFormat>,
    /// True if a voice id of the provider can be sent.
    pub supports_custom_voice_id: bool,
    /// Present if the model supports cloned voices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voice_cloning: Option<VoiceCloning>,
    /// True if `prompt` has an effect.
    #[serde(rename = "supportsPromptParam")]
    pub supports_prompt_param: bool,
    /// True if `temperature` has an effect.
    #[serde(rename = "supportsTemperatureParam")]
    pub supports_temperature_param: bool,
    /// True if `top_p` has an effect.
    #[serde(rename = "supportsTopPParam")]
    pub supports_top_p_param: bool,
    pub pricing: TtsPricing,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct VoiceCloning {
    pub mode: CloningMode,
    pub accepted_formats: Vec<AudioFormat>,
    pub min_sample_seconds: u64,
    pub retention_days: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CloningMode {
    ZeroShot,
    Persistent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AudioFormat {
    Mp3,
    Opus,
    Aac,
    Flac,
    Wav,
    Pcm,
    M4a,
    Ogg,
    Webm,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MusicSpec {
    #[serde(flatten)]
    pub common: CommonSpec,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_voice: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voices: Option<Vec<String>>,
    pub supports_lyrics: bool,
    pub lyrics_required: bool,
    pub supports_lyrics_optimizer: bool,
    pub supports_force_instrumental: bool,
    pub supports_loop: bool,
    pub supports_language_code: bool,
    pub supports_speed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_speed: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_speed: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_speed: Option<f64>,
    /// The available lengths in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_options: Option<Vec<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_duration: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_duration: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_duration: Option<u64>,
    pub supported_formats: Vec<AudioFormat>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_format: Option<AudioFormat>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_character_limit: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_prompt_length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lyrics_character_limit: Option<u64>,
    pub pricing: MusicPricing,
}
