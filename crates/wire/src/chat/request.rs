//! What a chat asks for.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Message, ResponseFormat, ServiceParameters, Tool, ToolChoice};

/// `POST /chat/completions`: one chat, to be answered whole or as a stream.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ChatCompletionRequest {
    /// The conversation so far.
    #[schemars(length(min = 1))]
    pub messages: Vec<Message>,
    /// A model's id, a trait or a compatible name. `<model>:<option>=<value>` sets service options.
    #[schemars(length(min = 1))]
    pub model: String,
    #[schemars(range(min = -2, max = 2))]
    pub frequency_penalty: Option<f64>,
    #[schemars(range(min = -2, max = 2))]
    pub presence_penalty: Option<f64>,
    #[schemars(range(min = 0))]
    pub repetition_penalty: Option<f64>,
    /// Whether to return the probability of each token.
    pub logprobs: Option<bool>,
    /// How many other likely tokens to return at each place.
    #[schemars(range(min = 0, max = 20))]
    pub top_logprobs: Option<u32>,
    /// Deprecated name of `max_completion_tokens`; zero or less is as if absent.
    #[schemars(extend("deprecated" = true))]
    pub max_tokens: Option<i64>,
    /// The most tokens an answer may have, reasoning included.
    #[schemars(range(min = 1))]
    pub max_completion_tokens: Option<u64>,
    #[schemars(range(min = 0, max = 1))]
    pub min_p: Option<f64>,
    #[schemars(range(min = 0, max = 1))]
    pub top_p: Option<f64>,
    #[schemars(range(min = 0))]
    pub top_k: Option<u32>,
    #[schemars(range(min = 0, max = 2))]
    pub temperature: Option<f64>,
    #[schemars(range(min = 0, max = 2))]
    pub min_temp: Option<f64>,
    #[schemars(range(min = 0, max = 2))]
    pub max_temp: Option<f64>,
    /// Number of choices.
    #[schemars(range(min = 1, max = 128))]
    pub n: Option<u32>,
    /// Sampling seed: any integer.
    pub seed: Option<i64>,
    /// Where to stop: one sequence, or up to four.
    pub stop: Option<Stop>,
    /// Tokens to stop at.
    pub stop_token_ids: Option<Vec<u32>>,
    /// Streams the answer.
    #[schemars(extend("default" = false))]
    pub stream: Option<bool>,
    pub stream_options: Option<StreamOptions>,
    pub reasoning: Option<ReasoningOptions>,
    /// How hard to think; it wins over `reasoning.effort`.
    pub reasoning_effort: Option<Effort>,
    /// How wordy to be.
    pub verbosity: Option<Verbosity>,
    pub text: Option<TextOptions>,
    /// Routing hint for cache hits.
    #[schemars(length(max = 512))]
    pub prompt_cache_key: Option<String>,
    /// How long the prompt stays cached.
    pub prompt_cache_retention: Option<Retention>,
    /// Models to try, in order, when the one asked for cannot answer.
    #[schemars(length(max = 10))]
    pub fallbacks: Option<Vec<Fallback>>,
    /// Accepted and discarded: nothing is stored.
    pub store: Option<bool>,
    /// Accepted and discarded.
    pub include: Option<Vec<String>>,
    /// Accepted and discarded.
    pub metadata: Option<BTreeMap<String, String>>,
    /// Accepted and discarded.
    pub user: Option<String>,
    /// Accepted and discarded.
    #[schemars(length(min = 1, max = 128))]
    pub anon_user_id: Option<String>,
    pub parallel_tool_calls: Option<bool>,
    /// The form of the answer.
    pub response_format: Option<ResponseFormat>,
    pub tool_choice: Option<ToolChoice>,
    /// What the model may call.
    #[schemars(length(max = 1024))]
    pub tools: Option<Vec<Tool>>,
    /// Options of this service.
    pub service_parameters: Option<ServiceParameters>,
    /// Fields that this service does not know, for upstreams that do.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Sequences that end an answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Stop {
    One(String),
    Several(#[schemars(length(min = 1, max = 4))] Vec<String>),
}

/// Options of a streamed answer.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct StreamOptions {
    /// Sends usage and cost in a chunk of their own, without choices, before the end.
    pub include_usage: Option<bool>,
}

/// How to think.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ReasoningOptions {
    pub effort: Option<Effort>,
    /// How the thinking is summed up.
    pub summary: Option<ReasoningSummary>,
    /// False turns thinking off.
    pub enabled: Option<bool>,
}

/// Steps of thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

/// How thinking is summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReasoningSummary {
    Auto,
    Concise,
    Detailed,
}

/// How wordy an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verbosity {
    Low,
    Medium,
    High,
    Auto,
}

/// Options of the answer's text.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct TextOptions {
    pub verbosity: Option<Verbosity>,
}

/// How long a prompt stays cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum Retention {
    #[serde(rename = "default")]
    Default,
    #[serde(rename = "extended")]
    Extended,
    #[serde(rename = "24h")]
    Day,
}

/// A model to try when another cannot answer.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Fallback {
    #[schemars(length(min = 1))]
    pub model: String,
}

impl ReasoningSummary {
    pub fn word(self) -> &'static str {
        match self {
            ReasoningSummary::Auto => "auto",
            ReasoningSummary::Concise => "concise",
            ReasoningSummary::Detailed => "detailed",
        }
    }
}

impl Verbosity {
    pub fn word(self) -> &'static str {
        match self {
            Verbosity::Low => "low",
            Verbosity::Medium => "medium",
            Verbosity::High => "high",
            Verbosity::Auto => "auto",
        }
    }
}

impl Retention {
    pub fn word(self) -> &'static str {
        match self {
            Retention::Default => "default",
            Retention::Extended => "extended",
            Retention::Day => "24h",
        }
    }
}
