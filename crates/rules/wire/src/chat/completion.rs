//! A complete (non-streamed) response.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{CalledFunction, Cost, EffectiveParameters, TokenUsage, ToolKind};

/// The response to a chat.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChatCompletion {
    /// `chatcmpl-…`.
    pub id: String,
    /// Always `chat.completion`.
    pub object: &'static str,
    /// Unix seconds.
    pub created: i64,
    /// The id of the model that generated the response.
    pub model: String,
    pub choices: Vec<ChatCompletionChoice>,
    /// The log probabilities of the prompt's tokens, if requested and supported by the engine.
    #[schemars(with = "Option<Value>")]
    pub prompt_logprobs: Option<Box<RawValue>>,
    pub usage: TokenUsage,
    pub cost: Cost,
    /// The options in effect for this response.
    pub service_parameters: EffectiveParameters,
}

/// One of the requested choices.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChatCompletionChoice {
    pub index: u32,
    pub finish_reason: FinishReason,
    /// The log probabilities of the tokens, if requested.
    #[schemars(with = "Option<Logprobs>")]
    pub logprobs: Option<Box<RawValue>>,
    pub message: CompletionMessage,
    /// `stop` or `length`; null if generation ended for another reason.
    pub stop_reason: Option<StopReason>,
}

/// The reason why the text ended: at a natural end or stop sequence, or at the token limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    Stop,
    Length,
}

/// The log probabilities of a choice's tokens in OpenAI's format. The fields of the first token are
/// repeated at the top level.
#[derive(Debug, JsonSchema)]
pub struct Logprobs {
    /// The tokens of the text.
    pub content: Option<Vec<TokenLogprob>>,
    /// The tokens of a refusal.
    pub refusal: Option<Vec<TokenLogprob>>,
    /// The first token of the text.
    pub token: Option<String>,
    pub logprob: Option<f64>,
    pub bytes: Option<Vec<u8>>,
    pub top_logprobs: Option<Vec<TopLogprob>>,
}

/// A token and its log probability.
#[derive(Debug, JsonSchema)]
pub struct TokenLogprob {
    pub token: String,
    pub logprob: f64,
    pub bytes: Option<Vec<u8>>,
    /// The most likely tokens at this position.
    pub top_logprobs: Option<Vec<TopLogprob>>,
}

/// An alternative token at a position.
#[derive(Debug, JsonSchema)]
pub struct TopLogprob {
    pub token: String,
    pub logprob: f64,
    pub bytes: Option<Vec<u8>>,
}

/// The reason why generation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    Stop,
    Length,
    ToolCalls,
    ContentFilter,
    FunctionCall,
}

/// The message that the model generated.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CompletionMessage {
    pub role: CompletionRole,
    /// Always absent: the service's models have no names of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[schemars(with = "Option<String>")]
    pub content: Option<AnswerText>,
    /// The model's reasoning.
    pub reasoning_content: Option<String>,
    /// Signed or encrypted reasoning, to be sent back unchanged with the next request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Value>>")]
    pub reasoning_details: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thought_signature: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    pub tool_calls: Vec<CompletionToolCall>,
    /// Always absent: only messages of the role `tool` have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Citations of web pages in the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotations: Vec<Annotation>,
}

/// A citation of a web page in the text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Annotation {
    /// Always `url_citation`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub url_citation: UrlCitation,
}

/// A cited page and the cited range of the text, in characters; `end_index` is exclusive.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UrlCitation {
    pub start_index: usize,
    pub end_index: usize,
    pub title: String,
    pub url: String,
}

/// The text of a choice.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum AnswerText {
    /// JSON as the upstream encoded it. Avoids decoding and encoding long texts.
    Written(Box<RawValue>),
    Text(String),
}

/// The role of the message's author.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CompletionRole {
    Assistant,
}

/// A tool call made by the model.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CompletionToolCall {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: ToolKind,
    pub function: CalledFunction,
    /// Additional fields that some engines require in the next request.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}
