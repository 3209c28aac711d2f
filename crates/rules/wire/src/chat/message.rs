//! The messages of a chat as callers send them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{CalledFunction, ToolKind};

/// One message of a chat.
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
    /// Instructions; treated like `system`.
    Developer {
        content: MessageContent,
        name: Option<String>,
    },
    /// An earlier response of the model. Dropped if it has neither content nor tool calls.
    Assistant {
        content: Option<MessageContent>,
        name: Option<String>,
        reasoning_content: Option<String>,
        /// Signed or encrypted reasoning, exactly as it was received.
        reasoning_details: Option<Vec<ReasoningDetail>>,
        thought_signature: Option<String>,
        tool_calls: Option<Vec<MessageToolCall>>,
    },
    /// The result of a tool call.
    Tool {
        content: MessageContent,
        tool_call_id: String,
    },
}

/// Signed or encrypted reasoning from an earlier response. All fields are sent back to the engine.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ReasoningDetail {
    /// The type, such as `reasoning.text`, `reasoning.summary` or `reasoning.encrypted`.
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Encrypted data that only the provider can read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// The provider's format, such as `anthropic-claude-v1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// Provider-specific fields, such as `signature`.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Plain text, or a list of parts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum MessageContent {
    Text(String),
    Parts(Vec<ContentPart>),
}

/// A part of a message.
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
    /// A document. Its text is extracted; models that accept PDF receive the PDF file itself.
    File(FilePart),
}

/// A text part.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct TextPart {
    #[schemars(length(min = 1))]
    pub text: String,
    pub cache_control: Option<CacheControl>,
}

/// An image, as a data URL or a public URL.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ImageUrl {
    #[schemars(length(min = 1))]
    pub url: String,
    pub detail: Option<String>,
}

/// A video, as a data URL or a public URL.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct MediaUrl {
    #[schemars(length(min = 1))]
    pub url: String,
}

/// An audio recording.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct InputAudio {
    /// The recording in base64.
    #[schemars(length(min = 1))]
    pub data: String,
    /// Default: `wav`.
    #[schemars(extend("default" = "wav"))]
    pub format: Option<AudioFormat>,
}

/// The audio format of a recording.
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

/// A document and its cache control.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct FilePart {
    pub file: FileData,
    pub cache_control: Option<CacheControl>,
}

/// The content and file name of a document.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct FileData {
    /// A data URL or a public URL.
    #[schemars(length(min = 1))]
    pub file_data: String,
    pub filename: Option<String>,
}

/// Marks the end of a prompt prefix to cache.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct CacheControl {
    #[serde(rename = "type")]
    pub kind: CacheKind,
    /// The lifetime of the cache entry: `1h`. Default: five minutes.
    pub ttl: Option<String>,
}

/// The type of caching. The only value is `ephemeral`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CacheKind {
    Ephemeral,
}

/// A tool call from an earlier response of the model.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct MessageToolCall {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: Option<ToolKind>,
    pub function: CalledFunction,
    /// Additional fields from the response that some engines require.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl AudioFormat {
    pub fn name(self) -> &'static str {
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
