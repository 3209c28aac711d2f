//! The events of a streamed chat completion.

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::{EngineUsage, NativeEvent};

/// One event of a streamed completion.
#[derive(Debug, Clone)]
pub enum ChatEvent {
    /// The serving provider: the first event of a pool's stream; other engines never send it.
    Served(ServingProvider),
    /// The upstream's own id of this completion; at most once.
    UpstreamId(String),
    /// New content of one or more choices.
    Chunk(ChatChunk),
    /// Tokens used so far, from engines that report usage during the stream. Each event replaces
    /// the one before.
    Progress(EngineUsage),
    /// Total tokens used: at most once, after the last chunk.
    Usage(EngineUsage),
}

/// The provider that a pool selected to serve the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServingProvider {
    pub provider: Arc<str>,
    /// The provider's own id of the model.
    pub model: Arc<str>,
    /// True if the provider bills the complete answer even after a disconnect: read on until the
    /// usage instead of dropping the stream.
    pub bills_after_hangup: bool,
}

/// Content that arrived in one event.
#[derive(Debug, Clone, Default)]
pub struct ChatChunk {
    pub deltas: Vec<ChoiceDelta>,
    /// The raw `choices` array, if it needs no change to be valid for an OpenAI client. It can be
    /// copied to the caller instead of encoding the deltas again.
    pub verbatim: Option<Box<RawValue>>,
    /// The event as the upstream sent it, if the request was passed through in its own protocol.
    pub native: Option<NativeEvent>,
}

/// New content of one choice. An empty string means no new content of that kind.
#[derive(Debug, Clone, Default)]
pub struct ChoiceDelta {
    pub index: u32,
    /// True for the first delta of a choice, which carries the role `assistant`.
    pub opens: bool,
    pub content: String,
    pub reasoning: String,
    pub refusal: String,
    pub tool_calls: Vec<ToolCallDelta>,
    /// Array of signed or encrypted reasoning blocks, which the caller sends back with the next
    /// request.
    pub reasoning_details: Option<Box<RawValue>>,
    pub thought_signature: Option<String>,
    pub logprobs: Option<Box<RawValue>>,
    pub finish: Option<FinishReason>,
    /// The stop sequence that ended the choice, from engines that name it.
    pub stop_match: Option<String>,
}

impl ChoiceDelta {
    /// All generated texts, for counting tokens when the engine reports no usage.
    pub fn generated_texts(&self) -> impl Iterator<Item = &str> {
        let calls =
            self.tool_calls.iter().flat_map(|call| [call.name.as_str(), call.arguments.as_str()]);
        [self.content.as_str(), self.reasoning.as_str(), self.refusal.as_str()]
            .into_iter()
            .chain(calls)
            .filter(|text| !text.is_empty())
    }
}

/// A fragment of a tool call; only its first fragment has `id` and `name`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolCallDelta {
    pub index: u32,
    pub id: Option<String>,
    pub name: String,
    pub arguments: String,
    pub extra: Map<String, Value>,
}

/// The reason why a choice ended: the five values of the OpenAI API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    Stop,
    Length,
    ToolCalls,
    ContentFilter,
    FunctionCall,
}

impl FinishReason {
    pub const fn as_str(self) -> &'static str {
        match self {
            FinishReason::Stop => "stop",
            FinishReason::Length => "length",
            FinishReason::ToolCalls => "tool_calls",
            FinishReason::ContentFilter => "content_filter",
            FinishReason::FunctionCall => "function_call",
        }
    }
}
