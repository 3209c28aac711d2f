//! What a streamed answer is made of.

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::Usage;

/// One step of a streamed answer.
#[derive(Debug, Clone)]
pub enum ChatEvent {
    /// Who answers: the first event of a pool's stream, and of no other.
    Served(Served),
    /// The upstream's own name for this answer; at most once.
    UpstreamId(String),
    /// Some choices grew.
    Chunk(ChatChunk),
    /// Tokens used so far, from engines that say so on the way. Each replaces the one before.
    Progress(Usage),
    /// Tokens used in all: at most once, after the last chunk.
    Usage(Usage),
}

/// The provider that answers, out of several that could have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    pub provider: Arc<str>,
    /// The provider's own name for the model.
    pub model: Arc<str>,
    /// It charges for the whole answer even if nobody waits for it: the receiver should read
    /// on to the usage instead of hanging up.
    pub bills_after_hangup: bool,
}

/// What was produced at one moment.
#[derive(Debug, Clone, Default)]
pub struct ChatChunk {
    pub deltas: Vec<ChoiceDelta>,
    /// The array `choices` as an OpenAI client may read it, byte for byte, when the engine's own
    /// words need no change: it can be copied to the caller instead of writing the deltas anew.
    pub verbatim: Option<Box<RawValue>>,
}

/// What one choice gained. Empty strings mean that nothing of the kind came.
#[derive(Debug, Clone, Default)]
pub struct ChoiceDelta {
    pub index: u32,
    /// The first delta of a choice, which names the role `assistant`.
    pub opens: bool,
    pub content: String,
    pub reasoning: String,
    pub refusal: String,
    pub tool_calls: Vec<ToolCallDelta>,
    /// An array of signed or encrypted thoughts, to be sent back with the next request.
    pub reasoning_details: Option<Box<RawValue>>,
    pub thought_signature: Option<String>,
    pub logprobs: Option<Box<RawValue>>,
    pub finish: Option<FinishReason>,
}

impl ChoiceDelta {
    /// Every text the model wrote here: what a meter counts when the engine does not.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let calls =
            self.tool_calls.iter().flat_map(|call| [call.name.as_str(), call.arguments.as_str()]);
        [self.content.as_str(), self.reasoning.as_str(), self.refusal.as_str()]
            .into_iter()
            .chain(calls)
            .filter(|text| !text.is_empty())
    }
}

/// A piece of a tool call; `id` and `name` come with its first piece only.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolCallDelta {
    pub index: u32,
    pub id: Option<String>,
    pub name: String,
    pub arguments: String,
    pub extra: Map<String, Value>,
}

/// Why a choice ended: the five words that every client knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    Stop,
    Length,
    ToolCalls,
    ContentFilter,
    FunctionCall,
}

impl FinishReason {
    pub const fn word(self) -> &'static str {
        match self {
            FinishReason::Stop => "stop",
            FinishReason::Length => "length",
            FinishReason::ToolCalls => "tool_calls",
            FinishReason::ContentFilter => "content_filter",
            FinishReason::FunctionCall => "function_call",
        }
    }
}
