//! `POST /completions`: a text goes in, and what comes after it out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::chat::{Cost, Stop, StreamOptions, TokenUsage};

/// A text to go on with. No chat template is put around it.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct CompletionRequest {
    /// A model's id, a trait or a compatible name.
    #[schemars(length(min = 1))]
    pub model: String,
    /// The text before the gap: a text, an array of texts, an array of tokens, or an array of
    /// arrays of tokens. Each is continued on its own.
    pub prompt: Prompt,
    /// The text after the gap, for models that fill in the middle.
    pub suffix: Option<String>,
    /// The most tokens the continuation may have; 16 unless said.
    #[schemars(range(min = 1), extend("default" = 16))]
    pub max_tokens: Option<u64>,
    #[schemars(range(min = 0, max = 2))]
    pub temperature: Option<f64>,
    #[schemars(range(min = 0, max = 1))]
    pub top_p: Option<f64>,
    #[schemars(range(min = -2, max = 2))]
    pub frequency_penalty: Option<f64>,
    #[schemars(range(min = -2, max = 2))]
    pub presence_penalty: Option<f64>,
    /// Number of choices.
    #[schemars(range(min = 1, max = 128))]
    pub n: Option<u32>,
    /// Sampling seed: any integer.
    pub seed: Option<i64>,
    /// Where to stop: one sequence, or up to four.
    pub stop: Option<Stop>,
    /// Returns the probability of each token, and of so many others.
    #[schemars(range(min = 0, max = 5))]
    pub logprobs: Option<u32>,
    /// Streams the continuation.
    #[schemars(extend("default" = false))]
    pub stream: Option<bool>,
    pub stream_options: Option<StreamOptions>,
    /// Repeats the prompt before its continuation. Not for tokens, nor beside `logprobs`.
    #[schemars(extend("default" = false))]
    pub echo: Option<bool>,
    /// More than `n` is refused: every choice that is made is returned.
    #[schemars(range(min = 0))]
    pub best_of: Option<u32>,
    /// Accepted and discarded.
    pub user: Option<String>,
}

/// One text or many.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Prompt {
    Text(#[schemars(length(min = 1))] String),
    Texts(#[schemars(length(min = 1, max = 128), inner(length(min = 1)))] Vec<String>),
    Tokens(#[schemars(length(min = 1))] Vec<u32>),
    TokenLists(#[schemars(length(min = 1, max = 128), inner(length(min = 1)))] Vec<Vec<u32>>),
}

/// What comes after a text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Completion {
    /// `cmpl-…`.
    pub id: String,
    /// Always `text_completion`.
    pub object: &'static str,
    /// Unix seconds.
    pub created: i64,
    /// The model that answered.
    pub model: String,
    pub choices: Vec<CompletionChoice>,
    /// In a stream, with the last chunk only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
    /// In a stream, with the last chunk only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// One continuation, or a piece of one.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CompletionChoice {
    pub index: u32,
    pub text: String,
    /// The probabilities of the tokens, if they were asked for.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub logprobs: Option<Box<RawValue>>,
    /// `stop`, `length` or `content_filter`; null in a stream until the choice ends.
    pub finish_reason: Option<&'static str>,
}
