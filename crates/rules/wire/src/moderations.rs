//! `POST /moderations`: classifies content, in OpenAI's form.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::embeddings::EmbeddingUsage;

/// The content to classify, and the model.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ModerationRequest {
    /// A text, an array of texts, which are classified separately, or an array of parts, which are
    /// classified together.
    pub input: ModerationInput,
    /// A moderation model's id, a trait or a compatible name. Default: the default moderation model.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
}

/// One text, several, or parts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ModerationInput {
    Text(#[schemars(length(min = 1))] String),
    Texts(#[schemars(length(min = 1, max = 2048), inner(length(min = 1)))] Vec<String>),
    Parts(#[schemars(length(min = 1, max = 128))] Vec<ModerationPart>),
}

/// A text or an image.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ModerationPart {
    Text {
        #[schemars(length(min = 1))]
        text: String,
    },
    ImageUrl {
        image_url: ModerationImage,
    },
}

/// An image, as a data URL or a public URL.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ModerationImage {
    #[schemars(length(min = 1))]
    pub url: String,
}

/// The verdicts.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ModerationList {
    pub id: String,
    pub model: String,
    /// One for each text, in their order, or one for all parts.
    pub results: Vec<ModerationResult>,
    pub usage: EmbeddingUsage,
    pub cost: crate::chat::Cost,
}

/// A verdict. The model decides which categories there are.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ModerationResult {
    /// True if any category applies.
    pub flagged: bool,
    /// True for each category that applies; null if the model does not assess it.
    pub categories: BTreeMap<String, Option<bool>>,
    /// The score of each category, from 0 to 1 with most models.
    pub category_scores: BTreeMap<String, Option<f64>>,
    /// The kinds of input that each score takes into account, if the model reports them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub category_applied_input_types: BTreeMap<String, Option<Vec<String>>>,
}
