//! Decodes a complete response of the Responses API.

use engine::{ChatAnswer, ChatChoice, EngineError, EngineUsage, FinishReason, ToolCall};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::items::{
    CalledTool, MessageTexts, PART_BREAK, ResponseItemBody, list_texts, readable_reasoning,
};
use super::logprobs::convert_logprobs;
use super::reasoning_details::{self, EncryptedReasoning};
use super::{response_failure, usage};
use crate::answer_parts::some_text;
use crate::transport::bad_answer;

pub(crate) fn read_response(body: &[u8]) -> Result<ChatAnswer, EngineError> {
    let response: ResponseBody = serde_json::from_slice(body)
        .map_err(|error| bad_answer(format!("it is not a response: {error}")))?;
    let mut groups = ItemGroups::default();
    let end = response.read_end()?;
    for item in end.output {
        groups.add_item(item);
    }
    let has_calls = !groups.tool_calls.is_empty();
    let whole = if has_calls { FinishReason::ToolCalls } else { FinishReason::Stop };
    let choice = ChatChoice {
        index: 0,
        content: some_text(groups.texts.content),
        verbatim: None,
        reasoning: some_text(groups.reasoning),
        refusal: some_text(groups.texts.refusal),
        reasoning_details: reasoning_details::encode_details(&groups.thoughts, 0),
        thought_signature: None,
        logprobs: convert_logprobs(&Value::Array(groups.texts.logprobs)),
        finish: end.cut.unwrap_or(whole),
        stop_match: None,
        tool_calls: groups.tool_calls,
    };
    Ok(ChatAnswer {
        served: None,
        upstream_id: end.id,
        choices: vec![choice],
        prompt_logprobs: None,
        usage: end.usage,
        native: None,
    })
}

/// A response object, alone or within an event.
#[derive(Deserialize)]
pub(super) struct ResponseBody {
    pub(super) id: Option<String>,
    status: Option<String>,
    pub(super) error: Option<Value>,
    incomplete_details: Option<IncompleteReasonBody>,
    output: Option<Vec<ResponseItemBody>>,
    usage: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct IncompleteReasonBody {
    reason: Option<String>,
}

/// A response that has ended without an error.
pub(super) struct ResponseEnd {
    pub(super) id: Option<String>,
    /// Set if the answer was cut short.
    pub(super) cut: Option<FinishReason>,
    pub(super) output: Vec<ResponseItemBody>,
    pub(super) usage: Option<EngineUsage>,
}

impl ResponseBody {
    pub(super) fn usage(&self) -> Option<EngineUsage> {
        self.usage.as_deref().and_then(usage::read_usage)
    }

    /// Fails unless the response has ended with an answer.
    pub(super) fn read_end(self) -> Result<ResponseEnd, EngineError> {
        if let Some(error) = &self.error {
            return Err(response_failure::read_error(error));
        }
        let reason = self.incomplete_details.as_ref().and_then(|it| it.reason.as_deref());
        let cut = match (self.status.as_deref(), reason) {
            (Some("completed"), _) => None,
            (Some("incomplete"), Some("content_filter")) => Some(FinishReason::ContentFilter),
            (Some("incomplete"), _) => Some(FinishReason::Length),
            (Some("failed"), _) => return Err(bad_answer("it failed without an error")),
            _ => return Err(bad_answer("its status is not that of an ended response")),
        };
        let usage = self.usage();
        Ok(ResponseEnd { id: self.id, cut, output: self.output.unwrap_or_default(), usage })
    }
}

/// The items of one response, grouped by kind.
#[derive(Default)]
struct ItemGroups {
    texts: MessageTexts,
    reasoning: String,
    thoughts: Vec<EncryptedReasoning>,
    tool_calls: Vec<ToolCall>,
}

impl ItemGroups {
    fn add_item(&mut self, item: ResponseItemBody) {
        match item {
            ResponseItemBody::Message { content } => {
                self.texts.add_parts(content.unwrap_or_default());
            }
            ResponseItemBody::Reasoning { id, summary, content, encrypted_content } => {
                let (summary, content) = (list_texts(summary), list_texts(content));
                let text = readable_reasoning(&summary, &content);
                if !self.reasoning.is_empty() && !text.is_empty() {
                    self.reasoning.push_str(PART_BREAK);
                }
                self.reasoning.push_str(&text);
                let encrypted_content = encrypted_content.filter(|data| !data.is_empty());
                self.thoughts.extend(encrypted_content.map(|encrypted_content| {
                    EncryptedReasoning { id, summary, encrypted_content }
                }));
            }
            ResponseItemBody::FunctionCall { call_id, name, arguments } => {
                self.add_call(CalledTool::of_function(call_id, name, arguments));
            }
            ResponseItemBody::CustomToolCall { call_id, name, input } => {
                self.add_call(CalledTool::of_custom_tool(call_id, name, input));
            }
            ResponseItemBody::Other => {}
        }
    }

    fn add_call(&mut self, tool: CalledTool) {
        let CalledTool { call_id, name, arguments } = tool;
        self.tool_calls.push(ToolCall { id: call_id, name, arguments, extra: Map::new() });
    }
}
