//! Encodes messages for an OpenAI-style server.

use engine::{AssistantTurn, ChatContent, ChatContentPart, ChatMessage, PartKind, ToolCall};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::cache_mark::CacheMark;

#[derive(Serialize, Default)]
pub(super) struct OpenAiMessageBody<'a> {
    role: &'static str,
    /// Null for an assistant turn that only called tools.
    content: Option<ContentBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<MessageCallBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_details: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

impl<'a> OpenAiMessageBody<'a> {
    /// `with_extensions` also includes fields that OpenAI does not define: reasoning and cache
    /// markers.
    pub(super) fn from_message(
        message: &'a ChatMessage,
        with_extensions: bool,
    ) -> OpenAiMessageBody<'a> {
        let content = |content| Some(ContentBody::from_content(content, with_extensions));
        match message {
            // Every server knows `system`; few know `developer`, which means the same.
            ChatMessage::System { content: said, name } => OpenAiMessageBody {
                role: "system",
                content: content(said),
                name: name.as_deref(),
                ..OpenAiMessageBody::default()
            },
            ChatMessage::User { content: said, name } => OpenAiMessageBody {
                role: "user",
                content: content(said),
                name: name.as_deref(),
                ..OpenAiMessageBody::default()
            },
            ChatMessage::Tool { call_id, content: said } => OpenAiMessageBody {
                role: "tool",
                content: content(said),
                tool_call_id: Some(call_id),
                ..OpenAiMessageBody::default()
            },
            ChatMessage::Assistant(turn) => OpenAiMessageBody::of_turn(turn, with_extensions),
            // Unreachable: a prompt is sent to its own endpoint and is never among messages.
            ChatMessage::Prompt(_) => {
                OpenAiMessageBody { role: "user", ..OpenAiMessageBody::default() }
            }
        }
    }

    fn of_turn(turn: &'a AssistantTurn, with_extensions: bool) -> OpenAiMessageBody<'a> {
        let content = turn.content.as_ref();
        let plain = OpenAiMessageBody {
            role: "assistant",
            content: content.map(|said| ContentBody::from_content(said, with_extensions)),
            name: turn.name.as_deref(),
            tool_calls: turn.tool_calls.iter().map(MessageCallBody::from_call).collect(),
            ..OpenAiMessageBody::default()
        };
        if !with_extensions {
            return plain;
        }
        OpenAiMessageBody {
            reasoning_content: turn.reasoning.as_deref(),
            reasoning_details: turn.reasoning_details.as_deref(),
            thought_signature: turn.thought_signature.as_deref(),
            ..plain
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum ContentBody<'a> {
    Text(&'a str),
    Parts(Vec<PartBody<'a>>),
}

impl<'a> ContentBody<'a> {
    fn from_content(content: &'a ChatContent, with_cache: bool) -> ContentBody<'a> {
        match content {
            ChatContent::Text(text) => ContentBody::Text(text),
            ChatContent::Parts(parts) => ContentBody::Parts(
                parts.iter().map(|it| PartBody::from_part(it, with_cache)).collect(),
            ),
        }
    }
}

#[derive(Serialize)]
struct PartBody<'a> {
    #[serde(flatten)]
    kind: PartKindBody<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheMark>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum PartKindBody<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: ImageUrlBody<'a> },
    InputAudio { input_audio: AudioBody<'a> },
    VideoUrl { video_url: VideoBody<'a> },
    File { file: FileBody<'a> },
}

#[derive(Serialize)]
struct ImageUrlBody<'a> {
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
}

#[derive(Serialize)]
struct AudioBody<'a> {
    data: &'a str,
    format: &'a str,
}

#[derive(Serialize)]
struct VideoBody<'a> {
    url: &'a str,
}

#[derive(Serialize)]
struct FileBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<&'a str>,
    file_data: &'a str,
}

impl<'a> PartBody<'a> {
    fn from_part(part: &'a ChatContentPart, with_cache: bool) -> PartBody<'a> {
        let kind = match &part.kind {
            PartKind::Text(text) => PartKindBody::Text { text },
            PartKind::Image { url, detail } => PartKindBody::ImageUrl {
                image_url: ImageUrlBody { url, detail: detail.as_deref() },
            },
            PartKind::Audio { data, format } => {
                PartKindBody::InputAudio { input_audio: AudioBody { data, format } }
            }
            PartKind::Video { url } => PartKindBody::VideoUrl { video_url: VideoBody { url } },
            PartKind::Document { url, name } => {
                PartKindBody::File { file: FileBody { filename: name.as_deref(), file_data: url } }
            }
        };
        let cache = part.cache.filter(|_| with_cache);
        PartBody { kind, cache_control: cache.map(CacheMark::from_control) }
    }
}

#[derive(Serialize)]
struct MessageCallBody<'a> {
    id: &'a str,
    r#type: &'static str,
    function: CallFunctionBody<'a>,
    #[serde(flatten)]
    extra: &'a Map<String, Value>,
}

#[derive(Serialize)]
struct CallFunctionBody<'a> {
    name: &'a str,
    arguments: &'a str,
}

impl<'a> MessageCallBody<'a> {
    fn from_call(call: &'a ToolCall) -> MessageCallBody<'a> {
        let function = CallFunctionBody { name: &call.name, arguments: &call.arguments };
        MessageCallBody { id: &call.id, r#type: "function", function, extra: &call.extra }
    }
}
