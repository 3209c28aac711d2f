//! The turns of a chat as callers send them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{CalledFunction, ToolKind};

/// One turn.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "role", rename_all = "lowercase")]
pub enum Message {
    User {
        content: MessageContent,
        name: Option<String>,
    },
    System {
        content: MessageContent,
        name: Option<String>,
    },
    /// Instructions, as `system`.
    Developer {
        content: MessageContent,
        name: Option<String>,
    },
    /// What the model said before; with neither content nor tool calls it is dropped.
    Assistant {
        content: Option<MessageContent>,
        name: Option<String>,
        reasoning_content: Option<String>,
        /// Signed or encrypted thoughts, as they came.
        reasoning_details: Option<Vec<ReasoningDetail>>,
        thought_signature: Option<String>,
        tool_calls: Option<Vec<MessageToolCall>>,
    },
    /// What a called tool returned.
    Tool {
        content: MessageContent,
        tool_call_id: String,
    },
}

/// A signed or encrypted thought, as an answer brought it. All of it is sent back to the engine.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ReasoningDetail {
    /// Such as `reasoning.text`, `reasoning.summary` or `reasoning.encrypted`.
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What only its maker can read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// Whose form it has, such as `anthropic-claude-v1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// Members that only its maker knows, such as `signature`.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Plain text, or parts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum MessageContent {
    Text(String),
    Parts(Vec<ContentPart>),
}

/// A piece of a turn.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentPart {
    Text(TextPart),
    ImageUrl {
        image_url: ImageUrl,
        cache_control: Option<CacheControl>,
    },
    InputAudio {
        input_audio: InputAudio,
        cache_control: Option<CacheControl>,
    },
    VideoUrl {
        video_url: MediaUrl,
        cache_control: Option<CacheControl>,
    },
    /// A document: its text is read. Models that take a PDF get the file itself.
    File(FilePart),
}

/// Text.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct TextPart {
    #[schemars(length(min = 1))]
    pub text: String,
    pub cache_control: Option<CacheControl>,
}

/// An image: a data URL or a public one.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ImageUrl {
    #[schemars(length(min = 1))]
    pub url: String,
    pub detail: Option<String>,
}

/// A video: a data URL or a public one.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct MediaUrl {
    #[schemars(length(min = 1))]
    pub url: String,
}

/// A recording.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct InputAudio {
    /// Base64.
    #[schemars(length(min = 1))]
    pub data: String,
    /// Defaults to `wav`.
    #[schemars(extend("default" = "wav"))]
    pub format: Option<AudioFormat>,
}

/// The container of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AudioFormat {
    Wav,
    Mp3,
    Aiff,
    Aac,
    Ogg,
    Flac,
    M4a,
    Pcm16,
    Pcm24,
}

/// A document with what to call it.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct FilePart {
    pub file: FileData,
    pub cache_control: Option<CacheControl>,
}

/// A document's bytes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct FileData {
    /// A data URL or a public one.
    #[schemars(length(min = 1))]
    pub file_data: String,
    pub filename: Option<String>,
}

/// Marks the prompt up to here as worth caching.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct CacheControl {
    #[serde(rename = "type")]
    pub kind: CacheKind,
    /// `1h`, or absent for five minutes.
    pub ttl: Option<String>,
}

/// The only kind there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CacheKind {
    Ephemeral,
}

/// A call the model made before.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct MessageToolCall {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: Option<ToolKind>,
    pub function: CalledFunction,
    /// Members that some engines need to see again.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl AudioFormat {
    pub fn word(self) -> &'static str {
        match self {
            AudioFormat::Wav => "wav",
            AudioFormat::Mp3 => "mp3",
            AudioFormat::Aiff => "aiff",
            AudioFormat::Aac => "aac",
            AudioFormat::Ogg => "ogg",
            AudioFormat::Flac => "flac",
            AudioFormat::M4a => "m4a",
            AudioFormat::Pcm16 => "pcm16",
            AudioFormat::Pcm24 => "pcm24",
        }
    }
}
