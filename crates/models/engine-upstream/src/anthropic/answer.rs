//! Decodes a complete response of the Messages API.

use engine::{ChatAnswer, ChatChoice, EngineError, ToolCall};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::reasoning_details::{self, ReasoningEntry};
use super::usage::AnthropicTokenCounts;
use crate::failure::UpstreamFailure;
use crate::finish;
use crate::transport::bad_answer;

pub(crate) fn read_message(body: &[u8]) -> Result<ChatAnswer, EngineError> {
    let message: AnthropicMessageBody = serde_json::from_slice(body)
        .map_err(|error| bad_answer(format!("it is not a message: {error}")))?;
    if let Some(error) = message.error {
        return Err(UpstreamFailure::from_value(&error).into_error());
    }
    let Some(stop_reason) = message.stop_reason else {
        return Err(bad_answer("the message has no stop reason"));
    };
    let mut gathered = BlockGroups::default();
    for block in message.content.unwrap_or_default() {
        gathered.take(block);
    }
    let choice = ChatChoice {
        index: 0,
        content: some_text(gathered.content),
        verbatim: None,
        reasoning: some_text(gathered.reasoning),
        refusal: None,
        reasoning_details: reasoning_details::encode_details(&gathered.thoughts),
        thought_signature: None,
        logprobs: None,
        finish: finish::parse_finish_reason(&stop_reason, !gathered.tool_calls.is_empty())?,
        tool_calls: gathered.tool_calls,
    };
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

#[derive(Deserialize)]
struct AnthropicMessageBody {
    id: Option<String>,
    content: Option<Vec<BlockBody>>,
    stop_reason: Option<String>,
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

fn some_text(text: String) -> Option<String> {
    if text.is_empty() { None } else { Some(text) }
}
