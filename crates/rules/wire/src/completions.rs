//! `POST /completions`: continues a text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::chat::{Cost, Stop, StreamOptions, TokenUsage};

/// A text to continue. No chat template is applied.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct CompletionRequest {
    /// A model's id, a trait or a compatible name.
    #[schemars(length(min = 1))]
    pub model: String,
    /// The prompt: a text, an array of texts, an array of tokens, or an array of token arrays. Each
    /// prompt gets its own completion.
    pub prompt: Prompt,
    /// The text after the gap, for models that support fill-in-the-middle.
    pub suffix: Option<String>,
    /// The maximum number of tokens to generate. Default: 16.
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
    /// The number of choices to generate.
    #[schemars(range(min = 1, max = 128))]
    pub n: Option<u32>,
    /// The sampling seed: any integer.
    pub seed: Option<i64>,
    /// One sequence or up to four sequences at which generation stops.
    pub stop: Option<Stop>,
    /// Returns the log probability of each token, and of this many alternatives.
    #[schemars(range(min = 0, max = 5))]
    pub logprobs: Option<u32>,
    /// Streams the response as server-sent events.
    #[schemars(extend("default" = false))]
    pub stream: Option<bool>,
    pub stream_options: Option<StreamOptions>,
    /// Repeats the prompt before the completion. Refused for token prompts and together with
    /// `logprobs`.
    #[schemars(extend("default" = false))]
    pub echo: Option<bool>,
    /// Values above `n` are refused: every generated choice is returned.
    #[schemars(range(min = 0))]
    pub best_of: Option<u32>,
    /// Accepted and discarded.
    pub user: Option<String>,
}

/// One prompt or several.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Prompt {
    Text(#[schemars(length(min = 1))] String),
    Texts(#[schemars(length(min = 1, max = 128), inner(length(min = 1)))] Vec<String>),
    Tokens(#[schemars(length(min = 1))] Vec<u32>),
    TokenLists(#[schemars(length(min = 1, max = 128), inner(length(min = 1)))] Vec<Vec<u32>>),
}

/// The response to `POST /completions`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Completion {
    /// `cmpl-…`.
    pub id: String,
    /// Always `text_completion`.
    pub object: &'static str,
    /// Unix seconds.
    pub created: i64,
    /// The id of the model that generated the response.
    pub model: String,
    pub choices: Vec<CompletionChoice>,
    /// In a stream, only in the last chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
    /// In a stream, only in the last chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// One completion, or a part of one in a stream.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CompletionChoice {
    pub index: u32,
    pub text: String,
    /// The log probabilities of the tokens, if requested.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub logprobs: Option<Box<RawValue>>,
    /// `stop`, `length` or `content_filter`. Null in a stream until the choice ends.
    pub finish_reason: Option<&'static str>,
}
