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
    #[schemars(with = "Option<Map<String, Value>>")]
    pub logprobs: Option<Box<RawValue>>,
    pub message: CompletionMessage,
    /// What else is known of why it stopped.
    pub stop_reason: Option<FinishReason>,
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
