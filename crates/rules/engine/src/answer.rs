//! A complete, non-streamed chat completion.

use serde_json::value::RawValue;

use crate::{EngineUsage, FinishReason, ServingProvider, ToolCall};

/// All choices of one completion, with token usage if the engine reported it.
#[derive(Debug, Clone)]
pub struct ChatAnswer {
    /// The provider that served the request; set by pools only.
    pub served: Option<ServingProvider>,
    /// The upstream's own id of this completion.
    pub upstream_id: Option<String>,
    pub choices: Vec<ChatChoice>,
    /// Log probabilities of the prompt's tokens, as the engine returned them.
    pub prompt_logprobs: Option<Box<RawValue>>,
    pub usage: Option<EngineUsage>,
    /// The response's JSON as the upstream sent it, if the request was passed through in its own
    /// protocol.
    pub native: Option<Box<RawValue>>,
}

#[derive(Debug, Clone)]
pub struct ChatChoice {
    pub index: u32,
    pub content: Option<String>,
    /// `content` as the engine's raw JSON string, if it can be forwarded unchanged.
    pub verbatim: Option<Box<RawValue>>,
    pub reasoning: Option<String>,
    pub refusal: Option<String>,
    pub tool_calls: Vec<ToolCall>,
    /// Array of signed or encrypted reasoning blocks, which the caller sends back with the next
    /// request.
    pub reasoning_details: Option<Box<RawValue>>,
    pub thought_signature: Option<String>,
    pub logprobs: Option<Box<RawValue>>,
    pub finish: FinishReason,
    /// The stop sequence that ended the choice, from engines that name it.
    pub stop_match: Option<String>,
}

impl ChatChoice {
    /// All generated texts, for counting tokens when the engine reports no usage.
    pub fn generated_texts(&self) -> impl Iterator<Item = &str> {
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
