//! Converts messages to a system prompt and alternating user and assistant turns.

use engine::{AssistantTurn, EngineError, Message};
use serde::Serialize;

use super::blocks::{self, Block};
use super::thoughts;

#[derive(Serialize)]
pub(super) struct Turn<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
}

/// Returns the system blocks and the turns. Tool results belong to the user role, and all results
/// of one turn must be together, so adjacent messages of one role are merged.
pub(super) fn conversation(
    messages: &[Message],
) -> Result<(Vec<Block<'_>>, Vec<Turn<'_>>), EngineError> {
    let mut system = Vec::new();
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for message in messages {
        let (role, content) = match message {
            Message::System { content, .. } => {
                system.extend(blocks::of_content(content)?);
                continue;
            }
            Message::User { content, .. } => ("user", blocks::of_content(content)?),
            Message::Tool { call_id, content } => {
                let content = blocks::of_content(content)?;
                ("user", vec![Block::ToolResult { tool_use_id: call_id, content }])
            }
            Message::Assistant(turn) => ("assistant", of_assistant(turn)?),
            Message::Prompt(_) => {
                return Err(super::chats_only());
            }
        };
        match turns.last_mut() {
            Some(last) if last.role == role => last.content.extend(content),
            _ if content.is_empty() => {}
            _ => turns.push(Turn { role, content }),
        }
    }
    Ok((system, turns))
}

/// Thinking blocks come first, as generated: without them the API rejects the turn after a tool
/// call.
fn of_assistant(turn: &AssistantTurn) -> Result<Vec<Block<'_>>, EngineError> {
    let mut content = match &turn.reasoning_details {
        Some(details) => thoughts::blocks(details),
        None => Vec::new(),
    };
    if let Some(said) = &turn.content {
        content.extend(blocks::of_content(said)?);
    }
    for call in &turn.tool_calls {
        content.push(blocks::of_call(call)?);
    }
    Ok(content)
}
