//! A chat's whole answer.

use serde_json::value::RawValue;

use crate::{FinishReason, Served, ToolCall, Usage};

/// All choices of one chat, with the tokens they took when the engine said so.
#[derive(Debug, Clone)]
pub struct ChatAnswer {
    /// Who answered, if there were several to choose from.
    pub served: Option<Served>,
    /// The upstream's own name for this answer.
    pub upstream_id: Option<String>,
    pub choices: Vec<Choice>,
    /// The probabilities of the prompt's tokens, where the engine gave them.
    pub prompt_logprobs: Option<Box<RawValue>>,
    pub usage: Option<Usage>,
}

#[derive(Debug, Clone)]
pub struct Choice {
    pub index: u32,
    pub content: Option<String>,
    /// The content as a string of JSON, where the engine wrote one.
    pub verbatim: Option<Box<RawValue>>,
    pub reasoning: Option<String>,
    pub refusal: Option<String>,
    pub tool_calls: Vec<ToolCall>,
    /// An array of signed or encrypted thoughts, to be sent back with the next request.
    pub reasoning_details: Option<Box<RawValue>>,
    pub thought_signature: Option<String>,
    pub logprobs: Option<Box<RawValue>>,
    pub finish: FinishReason,
}

impl Choice {
    /// Every text the model wrote: what a meter counts when the engine does not.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let calls =
            self.tool_calls.iter().flat_map(|call| [call.name.as_str(), call.arguments.as_str()]);
        [&self.content, &self.reasoning, &self.refusal]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .chain(calls)
            .filter(|text| !text.is_empty())
    }
}
