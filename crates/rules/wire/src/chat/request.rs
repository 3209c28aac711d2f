//! The request of `POST /chat/completions`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Message, ResponseFormat, ServiceParameters, Tool, ToolChoice};

/// The body of `POST /chat/completions`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ChatCompletionRequest {
    /// The messages of the conversation so far.
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
    /// Returns the log probability of each token.
    pub logprobs: Option<bool>,
    /// The number of alternative tokens to return at each position.
    #[schemars(range(min = 0, max = 20))]
    pub top_logprobs: Option<u32>,
    /// Deprecated name of `max_completion_tokens`. Values of zero or less are ignored.
    #[schemars(extend("deprecated" = true))]
    pub max_tokens: Option<i64>,
    /// The maximum number of tokens to generate, including reasoning.
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
    /// The number of choices to generate.
    #[schemars(range(min = 1, max = 128))]
    pub n: Option<u32>,
    /// The sampling seed: any integer.
    pub seed: Option<i64>,
    /// One sequence or up to four sequences at which generation stops.
    pub stop: Option<Stop>,
    /// Token ids at which generation stops.
    pub stop_token_ids: Option<Vec<u32>>,
    /// Streams the response as server-sent events.
    #[schemars(extend("default" = false))]
    pub stream: Option<bool>,
    pub stream_options: Option<StreamOptions>,
    pub reasoning: Option<ReasoningOptions>,
    /// The reasoning effort. Takes precedence over `reasoning.effort`.
    pub reasoning_effort: Option<Effort>,
    /// The verbosity of the response.
    pub verbosity: Option<Verbosity>,
    pub text: Option<TextOptions>,
    /// A routing hint that raises the cache hit rate.
    #[schemars(length(max = 512))]
    pub prompt_cache_key: Option<String>,
    /// The lifetime of the cached prompt.
    pub prompt_cache_retention: Option<Retention>,
    /// Models to try, in order, if the requested model cannot answer.
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
    /// The output format.
    pub response_format: Option<ResponseFormat>,
    pub tool_choice: Option<ToolChoice>,
    /// The tools that the model may call.
    #[schemars(length(max = 1024))]
    pub tools: Option<Vec<Tool>>,
    /// Options of this service.
    pub service_parameters: Option<ServiceParameters>,
    /// Unknown fields, forwarded to upstreams that may know them.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Sequences at which generation stops.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Stop {
    One(String),
    Several(#[schemars(length(min = 1, max = 4))] Vec<String>),
}

/// Options of a streamed response.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct StreamOptions {
    /// Sends usage and cost in a separate chunk without choices before the end of the stream.
    pub include_usage: Option<bool>,
}

/// Reasoning options.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ReasoningOptions {
    pub effort: Option<Effort>,
    /// The detail of the reasoning summary.
    pub summary: Option<ReasoningSummary>,
    /// False disables reasoning.
    pub enabled: Option<bool>,
}

/// Levels of reasoning effort.
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

/// The detail of a reasoning summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReasoningSummary {
    Auto,
    Concise,
    Detailed,
}

/// The verbosity of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verbosity {
    Low,
    Medium,
    High,
    Auto,
}

/// Text options of a response.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct TextOptions {
    pub verbosity: Option<Verbosity>,
}

/// The lifetime of a cached prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum Retention {
    #[serde(rename = "default")]
    Default,
    #[serde(rename = "extended")]
    Extended,
    #[serde(rename = "24h")]
    Day,
}

/// A model to try if another cannot answer.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Fallback {
    #[schemars(length(min = 1))]
    pub model: String,
}

impl ReasoningSummary {
    pub fn name(self) -> &'static str {
        match self {
            ReasoningSummary::Auto => "auto",
            ReasoningSummary::Concise => "concise",
            ReasoningSummary::Detailed => "detailed",
        }
    }
}

impl Verbosity {
    pub fn name(self) -> &'static str {
        match self {
            Verbosity::Low => "low",
            Verbosity::Medium => "medium",
            Verbosity::High => "high",
            Verbosity::Auto => "auto",
        }
    }
}

impl Retention {
    pub fn name(self) -> &'static str {
        match self {
            Retention::Default => "default",
            Retention::Extended => "extended",
            Retention::Day => "24h",
        }
    }
}
