//! Moderation requests and responses.

use std::collections::BTreeMap;

use crate::EngineUsage;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModerationRequest {
    pub input: ModerationInput,
}

/// Content to classify.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModerationInput {
    Text(String),
    /// Classified separately.
    Texts(Vec<String>),
    /// Classified together.
    Parts(Vec<ModerationPart>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModerationPart {
    Text(String),
    /// A data URL, or a public URL.
    ImageUrl(String),
}

impl ModerationInput {
    /// The number of verdicts.
    pub fn verdicts_total(&self) -> usize {
        match self {
            ModerationInput::Text(_) | ModerationInput::Parts(_) => 1,
            ModerationInput::Texts(texts) => texts.len(),
        }
    }
}

/// The verdicts, in the order of the texts.
#[derive(Debug, Clone, PartialEq)]
pub struct ModerationAnswer {
    pub verdicts: Vec<ModerationVerdict>,
    pub usage: Option<EngineUsage>,
}

/// The verdict on one text, or on all parts. The model names its categories; some have no value for
/// some inputs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModerationVerdict {
    pub flagged: bool,
    pub categories: BTreeMap<String, Option<bool>>,
    /// Finite numbers.
    pub scores: BTreeMap<String, Option<f64>>,
    /// The kinds of input that each score takes into account.
    pub applied_input_types: BTreeMap<String, Option<Vec<String>>>,
}
