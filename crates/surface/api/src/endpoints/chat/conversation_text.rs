//! The texts of a conversation, for prompts and web search.

use wire::chat::{ContentPart, Message, MessageContent};

use crate::endpoints::web_context::LastMessage;

/// The texts of the user and the model, in order.
pub(super) fn list_conversation_texts(messages: &[Message]) -> Vec<&str> {
    messages.iter().flat_map(list_message_texts).collect()
}

/// The user's last message.
pub(super) fn last_message(messages: &[Message]) -> LastMessage {
    let is_users = |message: &&Message| matches!(message, Message::User { .. });
    let Some(message) = messages.iter().rfind(is_users) else { return LastMessage::default() };
    let has_picture = match message {
        Message::User { content: MessageContent::Parts(parts), .. } => {
            parts.iter().any(|part| matches!(part, ContentPart::ImageUrl { .. }))
        }
        _ => false,
    };
    LastMessage { text: list_message_texts(message).join("\n"), has_picture }
}

/// The latest `name` of the user, if any.
pub(super) fn user_name(messages: &[Message]) -> Option<&str> {
    messages.iter().rev().find_map(|message| match message {
        Message::User { name, .. } => name.as_deref(),
        _ => None,
    })
}

fn list_message_texts(message: &Message) -> Vec<&str> {
    let content = match message {
        Message::User { content, .. } => Some(content),
        Message::Assistant { content, .. } => content.as_ref(),
        Message::System { .. } | Message::Developer { .. } | Message::Tool { .. } => None,
    };
    match content {
        Some(MessageContent::Text(text)) => vec![text.as_str()],
        Some(MessageContent::Parts(parts)) => parts
            .iter()
            .filter_map(|part| match part {
                ContentPart::Text(text) => Some(text.text.as_str()),
                _ => None,
            })
            .collect(),
        None => Vec::new(),
    }
}
