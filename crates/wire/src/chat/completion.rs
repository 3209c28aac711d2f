//! A whole answer.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{CalledFunction, Cost, EffectiveParameters, TokenUsage, ToolKind};

/// The answer to a chat.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChatCompletion {
    /// `chatcmpl-…`.
    pub id: String,
    /// Always `chat.completion`.
    pub object: &'static str,
    /// Unix seconds.
    pub created: i64,
    /// The model that answered.
    pub model: String,
    pub choices: Vec<ChatCompletionChoice>,
    /// The probabilities of the prompt's tokens, from engines that give them when asked to.
    #[schemars(with = "Option<Value>")]
    pub prompt_logprobs: Option<Box<RawValue>>,
    pub usage: TokenUsage,
    pub cost: Cost,
    /// The options that came into force.
    pub service_parameters: EffectiveParameters,
}

/// One of the answers asked for.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChatCompletionChoice {
    pub index: u32,
    pub finish_reason: FinishReason,
    /// The probabilities of the tokens, if they were asked for.
    #[schemars(with = "Option<Logprobs>")]
    pub logprobs: Option<Box<RawValue>>,
    pub message: CompletionMessage,
    /// Whether the text came to its own end or to its bound; null for other ends.
    pub stop_reason: Option<StopReason>,
}

/// How a text ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    Stop,
    Length,
}

/// The probabilities of an answer's tokens: all of them as OpenAI's clients read them, and the
/// first beside them.
#[derive(Debug, JsonSchema)]
pub struct Logprobs {
    /// Each token of the text.
    pub content: Option<Vec<TokenLogprob>>,
    /// Each token of a refusal.
    pub refusal: Option<Vec<TokenLogprob>>,
    /// The first token of the text.
    pub token: Option<String>,
    pub logprob: Option<f64>,
    pub bytes: Option<Vec<u8>>,
    pub top_logprobs: Option<Vec<TopLogprob>>,
}

/// A token and how likely it was.
#[derive(Debug, JsonSchema)]
pub struct TokenLogprob {
    pub token: String,
    pub logprob: f64,
    pub bytes: Option<Vec<u8>>,
    /// The likeliest tokens in its place.
    pub top_logprobs: Option<Vec<TopLogprob>>,
}

/// A token that might have stood in the place of another.
#[derive(Debug, JsonSchema)]
pub struct TopLogprob {
    pub token: String,
    pub logprob: f64,
    pub bytes: Option<Vec<u8>>,
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    Stop,
    Length,
    ToolCalls,
    ContentFilter,
    FunctionCall,
}

/// What the model said.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CompletionMessage {
    pub role: CompletionRole,
    /// Models of this service have no name of their own: always absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[schemars(with = "Option<String>")]
    pub content: Option<AnswerText>,
    /// What the model thought.
    pub reasoning_content: Option<String>,
    /// Signed or encrypted thoughts, to be sent back.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Value>>")]
    pub reasoning_details: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thought_signature: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    pub tool_calls: Vec<CompletionToolCall>,
    /// Only messages of the role `tool` have one, and no answer is of that role: always absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Where the text cites a page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotations: Vec<Annotation>,
}

/// A place in the text that rests on a page.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Annotation {
    /// Always `url_citation`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub url_citation: UrlCitation,
}

/// A page, and where it is cited: from one character to before another.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UrlCitation {
    pub start_index: usize,
    pub end_index: usize,
    pub title: String,
    pub url: String,
}

/// The text of an answer.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum AnswerText {
    /// As JSON, which is how the model's server wrote it: a long text is not read and written again
    /// for each of its letters.
    Written(Box<RawValue>),
    Text(String),
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CompletionRole {
    Assistant,
}

/// A call the model made.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CompletionToolCall {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: ToolKind,
    pub function: CalledFunction,
    /// Members that some engines need to see again.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}
