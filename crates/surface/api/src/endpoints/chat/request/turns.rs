//! The messages of a chat, with the texts of documents and without surplus images.

use domain::catalogue::{TextCapability, TextSpec};
use engine::{
    AssistantTurn, CacheControl, ChatContent, ChatContentPart, ChatMessage, PartKind, ToolCall,
};
use schema_check::{PathStep, ValidationFaults};
use serde_json::value::to_raw_value;
use wire::chat::{self, AudioFormat, ChatCompletionRequest, ContentPart, FileData, MessageContent};

use crate::endpoints::document::RequestDocuments;

pub(super) fn build_messages(
    body: &ChatCompletionRequest,
    text: &TextSpec,
    documents: &RequestDocuments,
    faults: &mut ValidationFaults,
) -> Vec<ChatMessage> {
    // A model without `MultipleImages` gets only the latest message's images.
    let sees_all = text.has_capability(TextCapability::MultipleImages);
    let latest = body.messages.iter().rposition(has_image);
    let mut messages = Vec::with_capacity(body.messages.len());
    for (index, message) in body.messages.iter().enumerate() {
        let keeps_images = sees_all || Some(index) == latest;
        let mut reader = TurnReader { index, text, documents, keeps_images, faults };
        messages.extend(reader.read_message(message));
    }
    messages
}

struct TurnReader<'a> {
    index: usize,
    text: &'a TextSpec,
    documents: &'a RequestDocuments,
    keeps_images: bool,
    faults: &'a mut ValidationFaults,
}

impl TurnReader<'_> {
    fn read_message(&mut self, message: &chat::Message) -> Option<ChatMessage> {
        Some(match message {
            chat::Message::User { content, name } => {
                ChatMessage::User { content: self.read_content(content), name: name.clone() }
            }
            chat::Message::System { content, name }
            | chat::Message::Developer { content, name } => {
                ChatMessage::System { content: self.read_content(content), name: name.clone() }
            }
            chat::Message::Tool { content, tool_call_id } => ChatMessage::Tool {
                call_id: tool_call_id.clone(),
                content: self.read_content(content),
            },
            chat::Message::Assistant { .. } => {
                ChatMessage::Assistant(self.read_assistant_turn(message)?)
            }
        })
    }

    /// None for a turn without content and tool calls.
    fn read_assistant_turn(&mut self, message: &chat::Message) -> Option<AssistantTurn> {
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
        let content = content.as_ref().map(|content| self.read_content(content));
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

    fn read_content(&mut self, content: &MessageContent) -> ChatContent {
        match content {
            MessageContent::Text(text) => ChatContent::Text(text.clone()),
            MessageContent::Parts(parts) => {
                let parts = parts.iter().enumerate();
                ChatContent::Parts(
                    parts.filter_map(|(index, part)| self.read_part(index, part)).collect(),
                )
            }
        }
    }

    fn read_part(&mut self, index: usize, part: &ContentPart) -> Option<ChatContentPart> {
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
                let format = input_audio.format.unwrap_or(AudioFormat::Wav).name().to_owned();
                (PartKind::Audio { data: input_audio.data.clone(), format }, cache_control)
            }
            ContentPart::VideoUrl { video_url, cache_control } => {
                (PartKind::Video { url: video_url.url.clone() }, cache_control)
            }
            ContentPart::File(part) => match self.read_document(index, &part.file) {
                Ok(kind) => (kind, &part.cache_control),
                Err(problem) => {
                    self.add_fault(index, problem);
                    return None;
                }
            },
        };
        Some(ChatContentPart { kind, cache: cache.as_ref().map(cache_control) })
    }

    fn read_document(&self, index: usize, file: &FileData) -> Result<PartKind, String> {
        let reads_documents = self.text.has_capability(TextCapability::Documents);
        self.documents.prompt_part((self.index, index), file, reads_documents)
    }

    fn add_fault(&mut self, index: usize, message: String) {
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
