//! `model_spec`: a model's type, and what models of every type have.

use schemars::JsonSchema;
use serde::Serialize;

use super::audio::{AsrSpec, MusicSpec, TtsSpec};
use super::image::{ImageSpec, InpaintSpec, UpscaleSpec};
use super::text::{EmbeddingSpec, TextSpec};
use super::video::VideoSpec;

/// A model's type and what is known about it.
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
}

/// What models of every type have.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommonSpec {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where the model comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_source: Option<String>,
    pub privacy: Privacy,
    /// Whether the model answers nothing for now.
    pub offline: bool,
    /// Whether only beta users may call the model.
    pub beta: bool,
    /// Whether the model has beta status.
    pub beta_model: bool,
    /// Roles the model plays among those of its type.
    pub traits: Vec<String>,
    /// True, or absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncensored: Option<bool>,
    /// Country codes from which the model may not be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region_restrictions: Option<Vec<String>>,
    /// Present once the model's removal is scheduled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecation: Option<Deprecation>,
    /// Curation tags.
    #[serde(rename = "model_sets", skip_serializing_if = "Option::is_none")]
    pub model_sets: Option<Vec<String>>,
}

/// Who sees what a request contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Privacy {
    /// Nobody keeps it.
    Private,
    /// A third party sees it, without knowing who sent it.
    Anonymized,
}

/// When and how a model goes away.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deprecation {
    /// Whether requests move to the replacement by themselves after the removal.
    pub auto_remap: bool,
    /// The date of deprecation (ISO 8601).
    pub date: String,
    /// When the model stops answering (ISO 8601).
    pub removes_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replacement_model_id: Option<String>,
    /// From when responses carry a warning (ISO 8601).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts_at: Option<String>,
}
