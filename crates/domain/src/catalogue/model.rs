//! One entry of the catalogue: what every model has, whatever it makes.

use std::num::NonZeroU32;
use std::path::PathBuf;

use moment::Timestamp;

use super::audio::{AsrSpec, MusicSpec, TtsSpec};
use super::image::{ImageSpec, InpaintSpec, UpscaleSpec};
use super::named::named;
use super::text::{Capability, EmbeddingSpec, TextSpec, Tier};
use super::video::VideoSpec;

#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
    /// Where the weights come from, such as a page of their maker.
    pub source: Option<String>,
    pub owned_by: String,
    pub created: Option<Timestamp>,
    pub privacy: Privacy,
    /// Listed, but answering nothing for now.
    pub offline: bool,
    pub beta: bool,
    pub uncensored: bool,
    /// Roles the model plays among those of its type, such as `default` or `fastest`.
    pub traits: Vec<String>,
    /// Names of other services' models that this one stands in for.
    pub aliases: Vec<String>,
    /// Curation tags.
    pub model_sets: Vec<String>,
    /// Countries the model may not be used from, as two capital letters.
    pub region_restrictions: Vec<String>,
    pub deprecation: Option<Deprecation>,
    /// Engines that run the model; the first is tried first.
    pub routes: Vec<Route>,
    /// The file with what ComfyUI is to do, for models that run there.
    pub workflow: Option<WorkflowFile>,
    pub spec: ModelSpec,
}

/// A file that holds a workflow of ComfyUI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowFile {
    pub path: PathBuf,
    /// The line of the configuration that names it, for messages: `tollgate.toml:12`.
    pub named_at: String,
}

impl Model {
    /// What it is as a text model, if it is one.
    pub fn text(&self) -> Option<&TextSpec> {
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
        }
    }

    /// The rate-limit tier, which only text models have.
    pub fn tier(&self) -> Option<Tier> {
        match &self.spec {
            ModelSpec::Text(text) => Some(text.tier),
            _ => None,
        }
    }

    pub fn is_optimized_for_code(&self) -> bool {
        match &self.spec {
            ModelSpec::Text(text) => text.has(Capability::Code),
            _ => false,
        }
    }

    /// The deprecation, once callers are to know about it.
    pub fn announced_deprecation(&self, now: Timestamp) -> Option<&Deprecation> {
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
    /// What a model makes or does, in the specification's words and order.
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
    }
}

/// What only models of one type have, their price included.
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
}

named! {
    /// Who sees what a caller sends.
    pub enum Privacy {
        /// Nobody keeps it.
        Private = "private",
        /// A third party sees it, without knowing who sent it.
        Anonymized = "anonymized",
    }
}

/// The end of a model: announced, then deprecated, then removed.
#[derive(Debug, Clone, PartialEq)]
pub struct Deprecation {
    /// From when callers are warned; from the first day when absent.
    pub starts_at: Option<Timestamp>,
    /// The date that callers are told.
    pub date: Timestamp,
    /// From here on the model answers nothing itself.
    pub removes_at: Timestamp,
    pub successor: Successor,
}

/// Who answers for a model after its removal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Successor {
    Nobody,
    /// Callers are told to change to it.
    Suggested(String),
    /// Callers are moved to it without doing anything.
    Automatic(String),
}

impl Successor {
    pub fn id(&self) -> Option<&str> {
        match self {
            Successor::Nobody => None,
            Successor::Suggested(id) | Successor::Automatic(id) => Some(id),
        }
    }

    pub fn is_automatic(&self) -> bool {
        matches!(self, Successor::Automatic(_))
    }
}

/// One engine that can run the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    pub provider: String,
    /// What that provider calls the model.
    pub upstream_id: String,
    /// Its share of the load among the model's routes.
    pub weight: NonZeroU32,
}
