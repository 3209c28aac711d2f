//! One catalogue entry: the fields that models of every type have.

use std::num::NonZeroU32;
use std::path::PathBuf;

use moment::Timestamp;

use super::audio::{AsrSpec, MusicSpec, TtsSpec};
use super::image::{ImageSpec, InpaintSpec, UpscaleSpec};
use super::named::named;
use super::scoring::{ModerationSpec, RerankSpec};
use super::text::{EmbeddingSpec, ModelTier, TextCapability, TextSpec};
use super::video::VideoSpec;

#[derive(Debug, Clone, PartialEq)]
pub struct CatalogueModel {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
    /// Source of the weights, such as the URL of their publisher's page.
    pub source: Option<String>,
    pub owned_by: String,
    pub created: Option<Timestamp>,
    pub privacy: ContentPrivacy,
    /// Listed, but requests to it are refused for now.
    pub offline: bool,
    pub beta: bool,
    pub uncensored: bool,
    /// Roles the model plays among those of its type, such as `default` or `fastest`.
    pub traits: Vec<String>,
    /// Names of other services' models that this model answers to.
    pub aliases: Vec<String>,
    /// Curation tags.
    pub model_sets: Vec<String>,
    /// Countries from which the model may not be used (two capital letters).
    pub region_restrictions: Vec<String>,
    pub deprecation: Option<ModelDeprecation>,
    /// Engines that run the model; the first is tried first.
    pub routes: Vec<ModelRoute>,
    /// The ComfyUI workflow file, for models that run there.
    pub workflow: Option<WorkflowFile>,
    pub spec: ModelSpec,
}

/// A file with a ComfyUI workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowFile {
    pub path: PathBuf,
    /// Configuration file and line that name the workflow, for error messages: `tollgate.toml:12`.
    pub named_at: String,
}

impl CatalogueModel {
    /// The text specification, if this is a text model.
    pub fn text_spec(&self) -> Option<&TextSpec> {
        match &self.spec {
            ModelSpec::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn model_type(&self) -> ModelType {
        match &self.spec {
            ModelSpec::Asr(_) => ModelType::Asr,
            ModelSpec::Embedding(_) => ModelType::Embedding,
            ModelSpec::Image(_) => ModelType::Image,
            ModelSpec::Music(_) => ModelType::Music,
            ModelSpec::Text(_) => ModelType::Text,
            ModelSpec::Tts(_) => ModelType::Tts,
            ModelSpec::Upscale(_) => ModelType::Upscale,
            ModelSpec::Inpaint(_) => ModelType::Inpaint,
            ModelSpec::Video(_) => ModelType::Video,
            ModelSpec::Rerank(_) => ModelType::Rerank,
            ModelSpec::Moderation(_) => ModelType::Moderation,
        }
    }

    /// The rate-limit tier, which only text models have.
    pub fn tier(&self) -> Option<ModelTier> {
        match &self.spec {
            ModelSpec::Text(text) => Some(text.tier),
            _ => None,
        }
    }

    pub fn is_optimized_for_code(&self) -> bool {
        match &self.spec {
            ModelSpec::Text(text) => text.has_capability(TextCapability::Code),
            _ => false,
        }
    }

    /// The deprecation, once it is announced to callers.
    pub fn announced_deprecation(&self, now: Timestamp) -> Option<&ModelDeprecation> {
        let deprecation = self.deprecation.as_ref()?;
        let starts_at = deprecation.starts_at.unwrap_or(now);
        (starts_at <= now).then_some(deprecation)
    }

    pub fn is_removed(&self, now: Timestamp) -> bool {
        match &self.deprecation {
            Some(deprecation) => deprecation.removes_at <= now,
            None => false,
        }
    }
}

named! {
    /// The kinds of model, in the words and order of the specification, and ours after them.
    pub enum ModelType {
        Asr = "asr",
        Embedding = "embedding",
        Image = "image",
        Music = "music",
        Text = "text",
        Tts = "tts",
        Upscale = "upscale",
        Inpaint = "inpaint",
        Video = "video",
        Rerank = "rerank",
        Moderation = "moderation",
    }
}

/// Fields that only models of one type have, including their price.
#[derive(Debug, Clone, PartialEq)]
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

named! {
    /// Exposure of the content that a caller sends.
    pub enum ContentPrivacy {
        /// Content is not stored.
        Private = "private",
        /// A third party sees the content, but not who sent it.
        Anonymized = "anonymized",
    }
}

/// The end of a model: announced, then deprecated, then removed.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelDeprecation {
    /// Start of warnings to callers. `None`: from the first day.
    pub starts_at: Option<Timestamp>,
    /// The deprecation date that callers are shown.
    pub date: Timestamp,
    /// From this moment requests go to the successor or are refused.
    pub removes_at: Timestamp,
    pub successor: ModelSuccessor,
}

/// The replacement for a removed model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelSuccessor {
    Nobody,
    /// Suggested to callers in the error message.
    Suggested(String),
    /// Answers requests for the removed model.
    Automatic(String),
}

impl ModelSuccessor {
    pub fn id(&self) -> Option<&str> {
        match self {
            ModelSuccessor::Nobody => None,
            ModelSuccessor::Suggested(id) | ModelSuccessor::Automatic(id) => Some(id),
        }
    }

    pub fn is_automatic(&self) -> bool {
        matches!(self, ModelSuccessor::Automatic(_))
    }
}

/// One engine that can run the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRoute {
    pub provider: String,
    /// The provider's name for the model.
    pub upstream_id: String,
    /// The relative weight of this route among the model's routes.
    pub weight: NonZeroU32,
}
