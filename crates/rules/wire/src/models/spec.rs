//! `model_spec`: the model type, and the fields common to all types.

use schemars::JsonSchema;
use serde::Serialize;

use super::audio::{AsrSpec, MusicSpec, TtsSpec};
use super::image::{ImageSpec, InpaintSpec, UpscaleSpec};
use super::scoring::{ModerationSpec, RerankSpec};
use super::text::{EmbeddingSpec, TextSpec};
use super::video::VideoSpec;

/// The model type and its type-specific details.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", content = "model_spec", rename_all = "lowercase")]
pub enum ModelSpec {
    Asr(AsrSpec),
    Embedding(EmbeddingSpec),
    Image(ImageSpec),
    Music(MusicSpec),
    Text(TextSpec),
    Tts(TtsSpec),
    Upscale(UpscaleSpec),
    Inpaint(InpaintSpec),
    Video(VideoSpec),
    Rerank(RerankSpec),
    Moderation(ModerationSpec),
}

/// Fields common to all model types.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommonSpec {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The source of the model, such as a web page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_source: Option<String>,
    pub privacy: Privacy,
    /// True if the model is temporarily unavailable.
    pub offline: bool,
    /// Always false: beta models are open to all callers.
    pub beta: bool,
    /// True if the model has beta status.
    pub beta_model: bool,
    /// The traits that refer to this model within its type.
    pub traits: Vec<String>,
    /// True if the model is uncensored, otherwise absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncensored: Option<bool>,
    /// The codes of countries in which the model must not be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region_restrictions: Option<Vec<String>>,
    /// Present if the removal of the model is scheduled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecation: Option<Deprecation>,
    /// Curation tags.
    #[serde(rename = "model_sets", skip_serializing_if = "Option::is_none")]
    pub model_sets: Option<Vec<String>>,
}

/// The privacy of a request's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Privacy {
    /// The content is not retained.
    Private,
    /// A third party sees the content but not the identity of the caller.
    Anonymized,
}

/// The schedule of a model's removal.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deprecation {
    /// True if requests are redirected to the replacement after the removal.
    pub auto_remap: bool,
    /// The date of deprecation (ISO 8601).
    pub date: String,
    /// The time of the removal (ISO 8601).
    pub removes_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replacement_model_id: Option<String>,
    /// The time from which responses carry a warning (ISO 8601).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts_at: Option<String>,
}
