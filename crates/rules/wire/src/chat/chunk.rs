//! One chunk of a streamed response. All chunks of a stream share `id`, `created` and `model`.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{CompletionRole, Cost, EffectiveParameters, FinishReason, TokenUsage, ToolKind};

/// A chunk. `C` is the array of choices: [`ChunkChoice`]s, or JSON forwarded verbatim from
/// upstream.
#[derive(Debug, Serialize)]
pub struct ChatChunk<'a, C> {
    pub id: &'a str,
    pub object: &'static str,
    pub created: i64,
    pub model: &'a str,
    pub choices: C,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// The search results, if the caller requested them in the stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_parameters: Option<&'a EffectiveParameters>,
}

/// The content that this chunk adds to one choice.
#[derive(Debug, Serialize)]
pub struct ChunkChoice<'a> {
    pub index: u32,
    pub delta: ChunkDelta<'a>,
    pub finish_reason: Option<FinishReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<&'a RawValue>,
}

/// The part of the message in this chunk. Fields without new content are omitted.
#[derive(Debug, Default, Serialize)]
pub struct ChunkDelta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<CompletionRole>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub tool_calls: Vec<ChunkToolCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_details: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thought_signature: Option<&'a str>,
}

/// A part of a tool call. `id`, `type` and `name` are only in its first part.
#[derive(Debug, Serialize)]
pub struct ChunkToolCall<'a> {
    pub index: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<&'a str>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<ToolKind>,
    pub function: ChunkFunction<'a>,
    #[serde(flatten)]
    pub extra: &'a Map<String, Value>,
}

/// A part of a function call.
#[derive(Debug, Serialize)]
pub struct ChunkFunction<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'a str>,
    pub arguments: &'a str,
}
