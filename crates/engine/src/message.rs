//! The turns of a chat, one variant per role, each holding only what that role may say.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// One turn.
#[derive(Debug, Clone)]
pub enum Message {
    /// Instructions, from the roles `system` and `developer` alike.
    System {
        content: Content,
        name: Option<String>,
    },
    User {
        content: Content,
        name: Option<String>,
    },
    Assistant(AssistantTurn),
    /// What a called tool returned.
    Tool {
        call_id: String,
        content: Content,
    },
    /// No turn at all: a text to go on with as it stands, alone in its request.
    Prompt(Prompt),
}

impl Message {
    /// What the turn says, if it says anything.
    fn content(&self) -> Option<&Content> {
        match self {
            Message::System { content, .. }
            | Message::User { content, .. }
            | Message::Tool { content, .. } => Some(content),
            Message::Assistant(turn) => turn.content.as_ref(),
            Message::Prompt(_) => None,
        }
    }
}

/// Whether any part of a conversation is marked as worth caching.
pub fn marks_cache(messages: &[Message]) -> bool {
    messages.iter().filter_map(Message::content).any(|content| match content {
        Content::Text(_) => false,
        Content::Parts(parts) => parts.iter().any(|part| part.cache.is_some()),
    })
}

/// Whether anybody marked a part to be cached for an hour.
pub fn marks_hour_cache(messages: &[Message]) -> bool {
    messages.iter().filter_map(Message::content).any(|content| match content {
        Content::Text(_) => false,
        Content::Parts(parts) => parts.iter().any(|part| part.cache == Some(CacheControl::OneHour)),
    })
}

/// Texts for the model to continue, each on its own and with no template around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// At least one.
    pub texts: Vec<PromptText>,
    /// What the continuation must lead to, for models that fill in the middle.
    pub suffix: Option<String>,
}

/// One text to continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptText {
    Text(String),
    /// Of the model's own vocabulary.
    Tokens(Vec<u32>),
}

/// A turn of text, or of parts. Kept apart because many engines take a plain string only.
#[derive(Debug, Clone)]
pub enum Content {
    Text(String),
    Parts(Vec<Part>),
}

/// One piece of a turn, and whether the prompt up to here is worth caching.
#[derive(Debug, Clone)]
pub struct Part {
    pub kind: PartKind,
    pub cache: Option<CacheControl>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartKind {
    Text(String),
    /// A data URL or a public one.
    Image {
        url: String,
        detail: Option<String>,
    },
    /// Base64 in a container such as `wav` or `mp3`.
    Audio {
        data: String,
        format: String,
    },
    Video {
        url: String,
    },
    /// A PDF as a data URL, or whatever lies at a public one.
    Document {
        url: String,
        name: Option<String>,
    },
}

/// How long a cached prefix should live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheControl {
    FiveMinutes,
    OneHour,
}

/// What the model said before, with what it needs to see again to go on.
#[derive(Debug, Clone, Default)]
pub struct AssistantTurn {
    pub content: Option<Content>,
    pub name: Option<String>,
    pub tool_calls: Vec<ToolCall>,
    pub reasoning: Option<String>,
    /// An array of signed or encrypted thoughts, as the engine once gave it.
    pub reasoning_details: Option<Box<RawValue>>,
    pub thought_signature: Option<String>,
}

/// A call the model made.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    /// JSON as the model wrote it, which may be broken.
    pub arguments: String,
    /// Members some engines need to see again with the call.
    pub extra: Map<String, Value>,
}
