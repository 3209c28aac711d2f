//! Decodes a complete response of the Messages API.

use std::fmt::Display;

use engine::{ChatAnswer, ChatChoice, EngineError, FinishReason, ToolCall};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::native_stream::collect_generated_text;
use super::reasoning_details::{self, ReasoningEntry};
use super::usage::AnthropicTokenCounts;
use crate::answer_parts::some_text;
use crate::failure::UpstreamFailure;
use crate::finish;
use crate::transport::bad_answer;

pub(crate) fn read_message(body: &[u8]) -> Result<ChatAnswer, EngineError> {
    let message: AnthropicMessageBody = serde_json::from_slice(body)
        .map_err(|error| bad_answer(format!("it is not a message: {error}")))?;
    if let Some(error) = message.error {
        return Err(UpstreamFailure::from_anthropic_value(&error).into_error());
    }
    let Some(stop_reason) = message.stop_reason else {
        return Err(bad_answer("the message has no stop reason"));
    };
    let mut gathered = BlockGroups::default();
    for block in message.content.unwrap_or_default() {
        gathered.take(block);
    }
    let finish = finish::parse_finish_reason(&stop_reason, !gathered.tool_calls.is_empty())?;
    let choice = ChatChoice { stop_match: message.stop_sequence, ..gathered.into_choice(finish) };
    let usage = message.usage.and_then(AnthropicTokenCounts::to_usage);
    Ok(ChatAnswer {
        served: None,
        upstream_id: message.id,
        choices: vec![choice],
        prompt_logprobs: None,
        usage,
        native: None,
    })
}

/// Decodes a response that is passed through, for metering: what is unknown in it is no failure.
pub(super) fn read_native_message(body: &[u8]) -> Result<ChatAnswer, EngineError> {
    let not_message = |error: &dyn Display| bad_answer(format!("it is not a message: {error}"));
    let text = std::str::from_utf8(body).map_err(|error| not_message(&error))?;
    let native = RawValue::from_string(text.to_owned()).map_err(|error| not_message(&error))?;
    let message: NativeMessageBody =
        serde_json::from_str(text).map_err(|error| not_message(&error))?;
    if let Some(error) = message.error {
        return Err(UpstreamFailure::from_anthropic_value(&error).into_error());
    }
    let mut gathered = BlockGroups::default();
    for block in message.content {
        match serde_json::from_value(block.clone()) {
            Ok(BlockBody::Other) | Err(_) => {
                gathered.reasoning.push_str(&collect_generated_text(&block));
            }
            Ok(known) => gathered.take(known),
        }
    }
    let has_calls = !gathered.tool_calls.is_empty();
    let stop_reason = message.stop_reason.as_deref().unwrap_or_default();
    let finish = finish::parse_finish_reason(stop_reason, has_calls).unwrap_or(FinishReason::Stop);
    let usage: Option<AnthropicTokenCounts> =
        message.usage.and_then(|usage| serde_json::from_value(usage).ok());
    Ok(ChatAnswer {
        served: None,
        upstream_id: message.id,
        choices: vec![gathered.into_choice(finish)],
        prompt_logprobs: None,
        usage: usage.and_then(AnthropicTokenCounts::to_usage),
        native: Some(native),
    })
}

#[derive(Deserialize)]
struct NativeMessageBody {
    id: Option<String>,
    #[serde(default)]
    content: Vec<Value>,
    stop_reason: Option<String>,
    usage: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct AnthropicMessageBody {
    id: Option<String>,
    content: Option<Vec<BlockBody>>,
    stop_reason: Option<String>,
    stop_sequence: Option<String>,
    usage: Option<AnthropicTokenCounts>,
    error: Option<Value>,
}

/// A content block of a response. Blocks of server-side tools are ignored.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum BlockBody {
    Text {
        #[serde(default)]
        text: String,
    },
    Thinking {
        #[serde(default)]
        thinking: String,
        #[serde(default)]
        signature: String,
    },
    RedactedThinking {
        data: String,
    },
    ToolUse {
        id: String,
        name: String,
        #[serde(default)]
        input: Value,
    },
    #[serde(other)]
    Other,
}

/// The blocks of one message, grouped by kind.
#[derive(Default)]
struct BlockGroups {
    content: String,
    reasoning: String,
    thoughts: Vec<ReasoningEntry>,
    tool_calls: Vec<ToolCall>,
}

impl BlockGroups {
    fn into_choice(self, finish: FinishReason) -> ChatChoice {
        ChatChoice {
            index: 0,
            content: some_text(self.content),
            verbatim: None,
            reasoning: some_text(self.reasoning),
            refusal: None,
            reasoning_details: reasoning_details::encode_details(&self.thoughts),
            thought_signature: None,
            logprobs: None,
            finish,
            stop_match: None,
            tool_calls: self.tool_calls,
        }
    }

    fn take(&mut self, block: BlockBody) {
        let index = u32::try_from(self.thoughts.len()).unwrap_or(u32::MAX);
        match block {
            BlockBody::Text { text } => self.content.push_str(&text),
            BlockBody::Thinking { thinking, signature } => {
                self.reasoning.push_str(&thinking);
                self.thoughts.push(ReasoningEntry::with_signature(thinking, signature, index));
            }
            BlockBody::RedactedThinking { data } => {
                self.thoughts.push(ReasoningEntry::with_encrypted_data(data, index));
            }
            BlockBody::ToolUse { id, name, input } => self.tool_calls.push(ToolCall {
                id,
                name,
                arguments: input.to_string(),
                extra: Map::new(),
            }),
            BlockBody::Other => {}
        }
    }
}
