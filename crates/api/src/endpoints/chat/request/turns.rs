//! The messages of a chat, with the texts of documents and without surplus images.

use domain::catalogue::{Capability, TextSpec};
use engine::{AssistantTurn, CacheControl, Content, Message, Part, PartKind, ToolCall};
use schema_check::{Faults, PathStep};
use serde_json::value::to_raw_value;
use wire::chat::{self, AudioFormat, ChatCompletionRequest, ContentPart, FileData, MessageContent};

use crate::endpoints::document::Documents;

pub(super) fn of(
    body: &ChatCompletionRequest,
    text: &TextSpec,
    documents: &Documents,
    faults: &mut Faults,
) -> Vec<Message> {
    // A model without `MultipleImages` gets only the latest message's images.
    let sees_all = text.has(Capability::MultipleImages);
    let latest = body.messages.iter().rposition(has_image);
    let mut messages = Vec::with_capacity(body.messages.len());
    for (index, message) in body.messages.iter().enumerate() {
        let keeps_images = sees_all || Some(index) == latest;
        let mut reader = TurnReader { index, text, documents, keeps_images, faults };
        messages.extend(reader.turn(message));
    }
    messages
}

struct TurnReader<'a> {
    index: usize,
    text: &'a TextSpec,
    documents: &'a Documents,
    keeps_images: bool,
    faults: &'a mut Faults,
}

impl TurnReader<'_> {
    fn turn(&mut self, message: &chat::Message) -> Option<Message> {
        Some(match message {
            chat::Message::User { content, name } => {
                Message::User { content: self.content(content), name: name.clone() }
            }
            chat::Message::System { content, name }
            | chat::Message::Developer { content, name } => {
                Message::System { content: self.content(content), name: name.clone() }
            }
            chat::Message::Tool { content, tool_call_id } => {
                Message::Tool { call_id: tool_call_id.clone(), content: self.content(content) }
            }
            chat::Message::Assistant { .. } => Message::Assistant(self.assistant(message)?),
        })
    }

    /// None for a turn without content and tool calls.
    fn assistant(&mut self, message: &chat::Message) -> Option<AssistantTurn> {
        let chat::Message::Assistant {
            content,
            name,
            reasoning_content,
            reasoning_details,
            thought_signature,
            tool_calls,
        } = message
        else {
            return None;
        };
        let calls = tool_calls.iter().flatten().map(|call| ToolCall {
            id: call.id.clone(),
            name: call.function.name.clone(),
            arguments: call.function.arguments.clone(),
            extra: call.extra.clone(),
        });
        let tool_calls: Vec<ToolCall> = calls.collect();
        let content = content.as_ref().map(|content| self.content(content));
        if content.is_none() && tool_calls.is_empty() {
            return None;
        }
        Some(AssistantTurn {
            content,
            name: name.clone(),
            tool_calls,
            reasoning: reasoning_content.clone(),
            reasoning_details: reasoning_details.as_ref().and_then(|it| to_raw_value(it).ok()),
            thought_signature: thought_signature.clone(),
        })
    }

    fn content(&mut self, content: &MessageContent) -> Content {
        match content {
            MessageContent::Text(text) => Content::Text(text.clone()),
            MessageContent::Parts(parts) => {
                let parts = parts.iter().enumerate();
                Content::Parts(parts.filter_map(|(index, part)| self.part(index, part)).collect())
            }
        }
    }

    fn part(&mut self, index: usize, part: &ContentPart) -> Option<Part> {
        let (kind, cache) = match part {
            ContentPart::Text(text) => (PartKind::Text(text.text.clone()), &text.cache_control),
            ContentPart::ImageUrl { image_url, cache_control } => {
                if !self.keeps_images {
                    return None;
                }
                let url = image_url.url.clone();
                (PartKind::Image { url, detail: image_url.detail.clone() }, cache_control)
            }
            ContentPart::InputAudio { input_audio, cache_control } => {
                let format = input_audio.format.unwrap_or(AudioFormat::Wav).word().to_owned();
                (PartKind::Audio { data: input_audio.data.clone(), format }, cache_control)
            }
            ContentPart::VideoUrl { video_url, cache_control } => {
                (PartKind::Video { url: video_url.url.clone() }, cache_control)
            }
            ContentPart::File(part) => match self.document(index, &part.file) {
                Ok(kind) => (kind, &part.cache_control),
                Err(problem) => {
                    self.fault(index, problem);
                    return None;
                }
            },
        };
        Some(Part { kind, cache: cache.as_ref().map(cache_control) })
    }

    fn document(&self, index: usize, file: &FileData) -> Result<PartKind, String> {
        let reads_documents = self.text.has(Capability::Documents);
        self.documents.part((self.index, index), file, reads_documents)
    }

    fn fault(&mut self, index: usize, message: String) {
        let place = [
            PathStep::from("messages"),
            PathStep::from(self.index),
            PathStep::from("content"),
            PathStep::from(index),
        ];
        self.faults.at(place).push(message);
    }
}

fn has_image(message: &chat::Message) -> bool {
    let chat::Message::User { content: MessageContent::Parts(parts), .. } = message else {
        return false;
    };
    parts.iter().any(|part| matches!(part, ContentPart::ImageUrl { .. }))
}

fn cache_control(control: &chat::CacheControl) -> CacheControl {
    match control.ttl.as_deref() {
        Some("1h") => CacheControl::OneHour,
        _ => CacheControl::FiveMinutes,
    }
}
