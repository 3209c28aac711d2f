//! `GET /models`, `/models/{id}`, `/models/traits` and `/models/compatibility_mapping`.
//!
//! Casing is the specification's: camelCase for text, image and embedding models, snake_case for
//! speech, music and video.

mod audio;
mod image;
mod pricing;
mod spec;
mod text;
mod video;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use audio::{AsrSpec, AudioFormat, CloningMode, MusicSpec, TtsSpec, VoiceCloning};
pub use image::{
    ImageConstraints, ImageSpec, InpaintConstraints, InpaintSpec, Quality, Steps, UpscaleSpec,
};
pub use pricing::{
    Amount, AsrPricing, DurationAmount, ExtendedPricing, ImagePricing, InpaintPricing,
    InputImagesPricing, MusicPricing, QualityPricing, TokenPricing, TtsPricing, UpscalePricing,
};
pub use spec::{CommonSpec, Deprecation, ModelSpec, Privacy};
pub use text::{
    Capabilities, DefaultValue, EmbeddingSpec, Quantization, ReasoningEffort, TextConstraints,
    TextSpec,
};
pub use video::{VideoConstraints, VideoKind, VideoSpec};

/// The query of `GET /models` and `GET /models/traits`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct ModelsQuery {
    /// Which models to show: those of one type, `all`, or `code` for text models that are
    /// optimized for code.
    #[serde(default, rename = "type")]
    pub filter: ModelFilter,
}

/// The query of `GET /models/compatibility_mapping`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct CompatibilityQuery {
    /// The type of models to show.
    #[serde(default, rename = "type")]
    pub model_type: ModelType,
}

/// A type of model, `all` of them, or `code`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ModelFilter {
    Asr,
    Embedding,
    Image,
    Music,
    #[default]
    Text,
    Tts,
    Upscale,
    Inpaint,
    Video,
    All,
    Code,
}

/// What a model makes or does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ModelType {
    Asr,
    Embedding,
    Image,
    Music,
    #[default]
    Text,
    Tts,
    Upscale,
    Inpaint,
    Video,
}

/// The models there are.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ModelList {
    pub object: ListObject,
    /// The type that was asked for.
    #[serde(rename = "type")]
    pub filter: ModelFilter,
    pub data: Vec<Model>,
}

/// One model.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Model {
    /// What to send as `model`.
    pub id: String,
    pub object: ModelObject,
    pub owned_by: String,
    /// When the model was added, in Unix seconds; 0 if that is not known.
    pub created: i64,
    /// Tokens of context, for text models; the same as `model_spec.availableContextTokens`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_length: Option<u64>,
    #[serde(flatten)]
    pub spec: ModelSpec,
}

/// Which model plays which role, such as `default` or `fastest`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ModelTraits {
    /// Trait names with model ids. A trait name can be sent as `model`.
    pub data: BTreeMap<String, String>,
    pub object: ListObject,
    /// The type that was asked for.
    #[serde(rename = "type")]
    pub filter: ModelFilter,
}

/// Which of our models answers to the names of other services' models.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CompatibilityMapping {
    /// External model names with model ids. An external name can be sent as `model`.
    pub data: BTreeMap<String, String>,
    pub object: ListObject,
    /// The type that was asked for.
    #[serde(rename = "type")]
    pub model_type: ModelType,
}

/// Always `list`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ListObject {
    List,
}

/// Always `model`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ModelObject {
    Model,
}

#[cfg(test)]
mod tests;
