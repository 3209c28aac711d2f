//! `GET /models`, `/models/{id}`, `/models/traits` and `/models/compatibility_mapping`.
//!
//! Casing is the specification's: camelCase for text, image and embedding models, snake_case for
//! speech, music and video.

mod audio;
mod image;
mod pricing;
mod scoring;
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
pub use scoring::{ModerationPricing, ModerationSpec, RerankPricing, RerankSpec};
pub use spec::{CommonSpec, Deprecation, ModelSpec, Privacy};
pub use text::{
    Capabilities, DefaultValue, EmbeddingSpec, Quantization, ReasoningEffort, TextConstraints,
    TextSpec,
};
pub use video::{VideoConstraints, VideoKind, VideoSpec};

/// The query of `GET /models`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct ModelListQuery {
    /// Lists only models of this type. `all` lists every type; `code` lists text models optimized
    /// for code. Default: `text`. With the header `anthropic-version`, text models are listed.
    #[serde(default, rename = "type")]
    pub filter: ModelFilter,
    /// With the header `anthropic-version` only: the number of models of a page. Default: 20.
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
    /// With the header `anthropic-version` only: the models after this one.
    pub after_id: Option<String>,
    /// With the header `anthropic-version` only: the models before this one.
    pub before_id: Option<String>,
}

/// The query of `GET /models/traits`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct ModelsQuery {
    /// Lists only models of this type. `all` lists every type; `code` lists text models optimized
    /// for code. Default: `text`.
    #[serde(default, rename = "type")]
    pub filter: ModelFilter,
}

/// The query of `GET /models/compatibility_mapping`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct CompatibilityQuery {
    /// The type of models to list. Default: `text`.
    #[serde(default, rename = "type")]
    pub model_type: ModelType,
}

/// A model type, `all` or `code`.
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
    Rerank,
    Moderation,
    All,
    Code,
}

/// The type of a model.
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
    Rerank,
    Moderation,
}

/// A list of models.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ModelList {
    pub object: ListObject,
    /// The requested type.
    #[serde(rename = "type")]
    pub filter: ModelFilter,
    pub data: Vec<Model>,
}

/// One model.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Model {
    /// The id to send as `model`.
    pub id: String,
    pub object: ModelObject,
    pub owned_by: String,
    /// The time when the model was added, in Unix seconds; 0 if unknown.
    pub created: i64,
    /// The context length in tokens, for text models. The same as
    /// `model_spec.availableContextTokens`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_length: Option<u64>,
    #[serde(flatten)]
    pub spec: ModelSpec,
}

/// The model that each trait, such as `default` or `fastest`, refers to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ModelTraits {
    /// Model ids by trait name. A trait name can be sent as `model`.
    pub data: BTreeMap<String, String>,
    pub object: ListObject,
    /// The requested type.
    #[serde(rename = "type")]
    pub filter: ModelFilter,
}

/// The models that stand in for models of other services.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CompatibilityMapping {
    /// Model ids by external model name. An external name can be sent as `model`.
    pub data: BTreeMap<String, String>,
    pub object: ListObject,
    /// The requested type.
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
