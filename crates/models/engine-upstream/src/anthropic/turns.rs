//! Converts messages to a system prompt and alternating user and assistant turns.

use engine::{AssistantTurn, ChatMessage, EngineError};
use serde::Serialize;

use super::blocks::{self, ContentBlock};
use super::reasoning_details;

#[derive(Serialize)]
pub(super) struct AnthropicTurn<'a> {
    role: &'static str,
    content: Vec<ContentBlock<'a>>,
}

/// Returns the system blocks and the turns. Tool results belong to the user role, and all results
/// of one turn must be together, so adjacent messages of one role are merged.
pub(super) fn build_conversation(
    messages: &[ChatMessage],
) -> Result<(Vec<ContentBlock<'_>>, Vec<AnthropicTurn<'_>>), EngineError> {
    let mut system = Vec::new();
    let mut turns: Vec<AnthropicTurn<'_>> = Vec::new();
    for message in messages {
        let (role, content) = match message {
            ChatMessage::System { content, .. } => {
                system.extend(blocks::encode_content(content)?);
                continue;
            }
            ChatMessage::User { content, .. } => ("user", blocks::encode_content(content)?),
            ChatMessage::Tool { call_id, content } => {
                let content = blocks::encode_content(content)?;
                ("user", vec![ContentBlock::ToolResult { tool_use_id: call_id, content }])
            }
            ChatMessage::Assistant(turn) => ("assistant", encode_assistant(turn)?),
            ChatMessage::Prompt(_) => {
                return Err(super::chat_only_error());
            }
        };
        match turns.last_mut() {
            Some(last) if last.role == role => last.content.extend(content),
            _ if content.is_empty() => {}
            _ => turns.push(AnthropicTurn { role, content }),
        }
    }
    Ok((system, turns))
}

/// Thinking blocks come first, as generated: without them the API rejects the turn after a tool
/// call.
fn encode_assistant(turn: &AssistantTurn) -> Result<Vec<ContentBlock<'_>>, EngineError> {
    let mut content = match &turn.reasoning_details {
        Some(details) => reasoning_details::decode_blocks(details),
        None => Vec::new(),
    };
    if let Some(said) = &turn.content {
        content.extend(blocks::encode_content(said)?);
    }
    for call in &turn.tool_calls {
        content.push(blocks::encode_call(call)?);
    }
    Ok(content)
}
