//! The messages of a chat: one variant per role, each with only the fields that the role allows.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// One message.
#[derive(Debug, Clone)]
pub enum ChatMessage {
    /// Instructions, from the roles `system` and `developer` alike.
    System {
        content: ChatContent,
        name: Option<String>,
    },
    User {
        content: ChatContent,
        name: Option<String>,
    },
    Assistant(AssistantTurn),
    /// The result of a tool call.
    Tool {
        call_id: String,
        content: ChatContent,
    },
    /// Not a message: text to continue as it is. Always alone in its request.
    Prompt(CompletionPrompt),
}

impl ChatMessage {
    /// The message's content, if any.
    fn content(&self) -> Option<&ChatContent> {
        match self {
            ChatMessage::System { content, .. }
            | ChatMessage::User { content, .. }
            | ChatMessage::Tool { content, .. } => Some(content),
            ChatMessage::Assistant(turn) => turn.content.as_ref(),
            ChatMessage::Prompt(_) => None,
        }
    }
}

/// True if any part has a cache marker.
pub fn marks_cache(messages: &[ChatMessage]) -> bool {
    messages.iter().filter_map(ChatMessage::content).any(|content| match content {
        ChatContent::Text(_) => false,
        ChatContent::Parts(parts) => parts.iter().any(|part| part.cache.is_some()),
    })
}

/// True if any part has a one-hour cache marker.
pub fn marks_hour_cache(messages: &[ChatMessage]) -> bool {
    messages.iter().filter_map(ChatMessage::content).any(|content| match content {
        ChatContent::Text(_) => false,
        ChatContent::Parts(parts) => {
            parts.iter().any(|part| part.cache == Some(CacheControl::OneHour))
        }
    })
}

/// Texts for the model to continue, each independently and without a chat template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletionPrompt {
    /// Never empty.
    pub texts: Vec<PromptText>,
    /// The text after the completion, for models that fill in the middle.
    pub suffix: Option<String>,
}

/// One text to continue, as text or tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptText {
    Text(String),
    /// Token ids of the model's own vocabulary.
    Tokens(Vec<u32>),
}

/// Content as plain text or as parts. Distinguished because many engines accept only a string.
#[derive(Debug, Clone)]
pub enum ChatContent {
    Text(String),
    Parts(Vec<ChatContentPart>),
}

/// One part of a message. `cache` marks the end of a prompt prefix that is worth caching.
#[derive(Debug, Clone)]
pub struct ChatContentPart {
    pub kind: PartKind,
    pub cache: Option<CacheControl>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartKind {
    Text(String),
    /// An image as a data URL or a public URL.
    Image {
        url: String,
        detail: Option<String>,
    },
    /// Audio as base64 in a container such as `wav` or `mp3`.
    Audio {
        data: String,
        format: String,
    },
    Video {
        url: String,
    },
    /// A PDF as a data URL, or a document at a public URL.
    Document {
        url: String,
        name: Option<String>,
    },
}

/// The lifetime of a cached prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheControl {
    FiveMinutes,
    OneHour,
}

/// An earlier answer of the model, with the reasoning that it needs to continue.
#[derive(Debug, Clone, Default)]
pub struct AssistantTurn {
    pub content: Option<ChatContent>,
    pub name: Option<String>,
    pub tool_calls: Vec<ToolCall>,
    pub reasoning: Option<String>,
    /// Array of signed or encrypted reasoning blocks, as an engine returned it before.
    pub reasoning_details: Option<Box<RawValue>>,
    pub thought_signature: Option<String>,
}

/// A tool call that the model made.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    /// JSON as the model wrote it; may be invalid.
    pub arguments: String,
    /// Engine-specific members that must be sent back with the call.
    pub extra: Map<String, Value>,
}
