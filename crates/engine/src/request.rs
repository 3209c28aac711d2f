//! What a chat asks of an engine.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::{Message, Prompt, Seal};

/// One chat, already checked against the model's abilities. The model itself is not named here:
/// an engine answers with one model and knows how its upstream calls it.
#[derive(Debug, Clone, Default)]
pub struct ChatRequest {
    pub messages: Vec<Message>,
    /// The most tokens each choice may have, reasoning included.
    pub completion_tokens_max: Option<u64>,
    /// The caller did not name that bound, and after a long prompt the context may have less room
    /// than it. An engine that would refuse the request for that is not told of the bound.
    pub may_exceed_context: bool,
    pub sampling: Sampling,
    pub stop: Vec<String>,
    pub stop_token_ids: Vec<u32>,
    /// How many answers to give; none asked means one.
    pub choices: Option<u32>,
    pub logprobs: Option<Logprobs>,
    pub tools: Vec<Tool>,
    pub tool_choice: Option<ToolChoice>,
    pub parallel_tool_calls: Option<bool>,
    pub response_format: ResponseFormat,
    pub reasoning: Reasoning,
    /// How wordy the answer should be: `low`, `medium`, `high`.
    pub verbosity: Option<String>,
    /// Requests with the same key are likely to share a prefix.
    pub prompt_cache_key: Option<String>,
    /// How long the prefix should stay cached, such as `24h`.
    pub prompt_cache_retention: Option<String>,
    /// The provider searches X for the answer, where it can.
    pub x_search: Option<XSearch>,
    /// The messages are encrypted for the model's enclave.
    pub seal: Option<Seal>,
    /// Fields that the caller sent and this model has no use for: told beside the answer.
    pub dropped: Vec<String>,
    /// Fields that mean nothing to us, for upstreams that know them.
    pub rest: Map<String, Value>,
}

impl ChatRequest {
    /// How many answers to each prompt are asked for, at least one.
    pub fn choices_wanted(&self) -> u32 {
        self.choices.unwrap_or(1).max(1)
    }

    /// How many prompts there are: a conversation is one.
    pub fn prompts(&self) -> u32 {
        let texts = self.prompt().map_or(1, |prompt| prompt.texts.len());
        u32::try_from(texts).unwrap_or(u32::MAX).max(1)
    }

    /// How many answers are asked for altogether.
    pub fn choices_total(&self) -> u32 {
        self.choices_wanted().saturating_mul(self.prompts())
    }

    /// The texts to go on with, if this is no conversation.
    pub fn prompt(&self) -> Option<&Prompt> {
        match self.messages.as_slice() {
            [Message::Prompt(prompt)] => Some(prompt),
            _ => None,
        }
    }
}

/// Which posts a search of X looks at; all, where nothing is said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct XSearch {
    pub handles: Vec<String>,
    pub excluded_handles: Vec<String>,
    /// `YYYY-MM-DD`.
    pub from_date: Option<String>,
    pub to_date: Option<String>,
}

/// How the next token is drawn; `None` leaves it to the model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sampling {
    pub temperature: Option<f64>,
    pub temperature_min: Option<f64>,
    pub temperature_max: Option<f64>,
    pub top_p: Option<f64>,
    pub top_k: Option<u32>,
    pub min_p: Option<f64>,
    pub frequency_penalty: Option<f64>,
    pub presence_penalty: Option<f64>,
    pub repetition_penalty: Option<f64>,
    pub seed: Option<i64>,
}

/// Asks for the probability of each token drawn, and of the `top` others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Logprobs {
    pub top: Option<u32>,
}

/// A function the model may call.
#[derive(Debug, Clone)]
pub struct Tool {
    pub name: String,
    pub description: Option<String>,
    /// The JSON schema of its arguments, kept as the caller wrote it.
    pub parameters: Option<Box<RawValue>>,
    pub strict: Option<bool>,
}

/// Whether and what the model must call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    Auto,
    None,
    Required,
    Function(String),
}

/// The form of the answer's text.
#[derive(Debug, Clone, Default)]
pub enum ResponseFormat {
    #[default]
    Text,
    /// Any JSON object.
    JsonObject,
    /// JSON that fits a schema, kept as the caller wrote it.
    JsonSchema { name: String, schema: Box<RawValue>, strict: Option<bool> },
}

/// How much the model thinks before it answers; all `None` leaves it to the model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reasoning {
    pub effort: Option<Effort>,
    /// How the thinking is summed up: `auto`, `concise`, `detailed`.
    pub summary: Option<String>,
    pub enabled: Option<bool>,
}

impl Reasoning {
    /// The caller asked for no thinking at all, in either of the two ways.
    pub fn is_off(&self) -> bool {
        self.enabled == Some(false) || self.effort == Some(Effort::None)
    }
}

/// Steps of thinking, from none to as much as the model can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    ExtraHigh,
    Max,
}

impl Effort {
    /// The word for it on every wire that has one.
    pub const fn word(self) -> &'static str {
        match self {
            Effort::None => "none",
            Effort::Minimal => "minimal",
            Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High => "high",
            Effort::ExtraHigh => "xhigh",
            Effort::Max => "max",
        }
    }
}
