//! Chat requests.

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::{ChatEncryptionKeys, ChatMessage, CompletionPrompt, NativeRequest};

/// One chat request, already checked against the model's capabilities. The model is not named: an
/// engine runs one model and knows its upstream's id.
#[derive(Debug, Clone, Default)]
pub struct ChatRequest {
    pub messages: Vec<ChatMessage>,
    /// Maximum completion tokens per choice, including reasoning.
    pub completion_tokens_max: Option<u64>,
    /// True if `completion_tokens_max` is our default and may exceed the context left after a long
    /// prompt. The field is then not sent to engines that would reject the request for it.
    pub may_exceed_context: bool,
    pub sampling: SamplingParameters,
    pub stop: Vec<String>,
    pub stop_token_ids: Vec<u32>,
    /// Choices per prompt. Default: 1.
    pub choices: Option<u32>,
    pub logprobs: Option<LogprobParameters>,
    pub tools: Vec<ChatTool>,
    pub tool_choice: Option<ToolChoicePolicy>,
    pub parallel_tool_calls: Option<bool>,
    pub response_format: ChatResponseFormat,
    pub reasoning: ReasoningParameters,
    /// Verbosity of the answer: `low`, `medium` or `high`.
    pub verbosity: Option<String>,
    /// Requests with the same key likely share a prompt prefix.
    pub prompt_cache_key: Option<String>,
    /// Lifetime of the cached prefix, such as `24h`.
    pub prompt_cache_retention: Option<String>,
    /// Lets the provider search X, if it can.
    pub x_search: Option<XSearch>,
    /// Set if the messages are encrypted for the model's enclave.
    pub seal: Option<ChatEncryptionKeys>,
    /// Fields that the caller sent and this model ignores; listed in the response.
    pub dropped: Vec<String>,
    /// Unknown fields, forwarded to upstreams that may know them.
    pub rest: Map<String, Value>,
    /// The same request in the caller's own protocol, for engines that pass it through.
    pub native: Option<Arc<NativeRequest>>,
    /// Requests with the same session are sent to the same route while it is healthy.
    pub session: Option<SessionId>,
}

/// Digest of the caller's key of a session. Differs between owners for the same key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SessionId(pub u64);

/// Sixteen hexadecimal digits, as in usage rows.
impl std::fmt::Display for SessionId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl ChatRequest {
    /// Choices requested per prompt, at least 1.
    pub fn choices_wanted(&self) -> u32 {
        self.choices.unwrap_or(1).max(1)
    }

    /// The number of prompts; a chat counts as 1.
    pub fn prompt_count(&self) -> u32 {
        let texts = self.prompt().map_or(1, |prompt| prompt.texts.len());
        u32::try_from(texts).unwrap_or(u32::MAX).max(1)
    }

    /// Choices requested over all prompts.
    pub fn choices_total(&self) -> u32 {
        self.choices_wanted().saturating_mul(self.prompt_count())
    }

    /// The texts to continue, if this is a text completion.
    pub fn prompt(&self) -> Option<&CompletionPrompt> {
        match self.messages.as_slice() {
            [ChatMessage::Prompt(prompt)] => Some(prompt),
            _ => None,
        }
    }
}

/// Filters for a search of posts on X. An empty filter matches all posts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct XSearch {
    pub handles: Vec<String>,
    pub excluded_handles: Vec<String>,
    /// `YYYY-MM-DD`.
    pub from_date: Option<String>,
    pub to_date: Option<String>,
}

/// Sampling parameters; `None` uses the model's default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SamplingParameters {
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

/// Requests the log probability of each generated token and of its `top` alternatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogprobParameters {
    pub top: Option<u32>,
}

/// A function the model may call.
#[derive(Debug, Clone)]
pub struct ChatTool {
    pub name: String,
    pub description: Option<String>,
    /// The JSON schema of the arguments, as the caller wrote it.
    pub parameters: Option<Box<RawValue>>,
    pub strict: Option<bool>,
}

/// Constraint on the model's tool calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoicePolicy {
    Auto,
    None,
    Required,
    Function(String),
}

/// The output format of the answer's text.
#[derive(Debug, Clone, Default)]
pub enum ChatResponseFormat {
    #[default]
    Text,
    /// Any JSON object.
    JsonObject,
    /// JSON that conforms to a schema, kept as the caller wrote it.
    JsonSchema { name: String, schema: Box<RawValue>, strict: Option<bool> },
}

/// Reasoning parameters; `None` uses the model's default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReasoningParameters {
    pub effort: Option<EffortLevel>,
    /// Detail of the reasoning summary: `auto`, `concise` or `detailed`.
    pub summary: Option<String>,
    pub enabled: Option<bool>,
}

impl ReasoningParameters {
    /// True if the caller disabled reasoning, by `enabled` or by `effort`.
    pub fn is_off(&self) -> bool {
        self.enabled == Some(false) || self.effort == Some(EffortLevel::None)
    }
}

/// Levels of reasoning effort, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EffortLevel {
    None,
    Minimal,
    Low,
    Medium,
    High,
    ExtraHigh,
    Max,
}

impl EffortLevel {
    /// The value on the wire, the same in every protocol that has one.
    pub const fn as_str(self) -> &'static str {
        match self {
            EffortLevel::None => "none",
            EffortLevel::Minimal => "minimal",
            EffortLevel::Low => "low",
            EffortLevel::Medium => "medium",
            EffortLevel::High => "high",
            EffortLevel::ExtraHigh => "xhigh",
            EffortLevel::Max => "max",
        }
    }
}
