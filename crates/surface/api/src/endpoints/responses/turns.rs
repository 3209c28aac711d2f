//! Turns the messages of a conversation, and the parts of items, into those of a chat.

use domain::media::{self, check_picture};
use engine::{AssistantTurn, ChatContent, ChatContentPart, ChatMessage, PartKind};
use http_frame::hosts::CheckedHosts;
use schema_check::{PathStep, ValidationFaults};
use wire::chat::FileData;
use wire::responses::{
    CustomToolCallOutput, FunctionCallOutput, ImageSource, Input, InputContent, InputFile,
    InputItem, InputMessage, InputPart, InputRole, PastItem, ToolOutput,
};

use crate::endpoints::document::{InlineFile, RequestDocuments, describe_failed_check};

/// Per message.
const IMAGES_MAX: usize = 10;
const FILES_MAX: usize = 5;

/// Check results and texts of media and documents.
#[derive(Clone, Copy)]
pub(super) struct CheckedMedia<'a> {
    pub(super) hosts: &'a CheckedHosts,
    pub(super) documents: &'a RequestDocuments,
}

/// The replacement of a document for models that cannot read it, or why there is none.
pub(super) type DocumentReplacement = Result<PartKind, String>;

/// The documents sent as data URLs, moved out of the request.
pub(super) fn take_inline_files(input: &mut Input) -> Vec<InlineFile> {
    let Input::Items(items) = input else { return Vec::new() };
    let mut files = Vec::new();
    for (index, item) in items.iter_mut().enumerate() {
        let InputItem::Message(message) = item else { continue };
        let InputContent::Parts(parts) = &mut message.content else { continue };
        for (position, part) in parts.iter_mut().enumerate() {
            let InputPart::InputFile(InputFile { file_data: Some(data), .. }) = part else {
                continue;
            };
            files.extend(InlineFile::take((index, position), data));
        }
    }
    files
}

/// The parts of a message or of a tool's result.
fn item_parts(item: &InputItem) -> &[InputPart] {
    match item {
        InputItem::Message(InputMessage { content: InputContent::Parts(parts), .. }) => parts,
        InputItem::Past(PastItem::FunctionCallOutput(FunctionCallOutput {
            output: ToolOutput::Parts(parts),
            ..
        })) => parts,
        InputItem::Past(PastItem::CustomToolCallOutput(CustomToolCallOutput {
            output: ToolOutput::Parts(parts),
            ..
        })) => parts,
        _ => &[],
    }
}

fn item_parts_mut(item: &mut InputItem) -> &mut [InputPart] {
    match item {
        InputItem::Message(InputMessage { content: InputContent::Parts(parts), .. }) => parts,
        InputItem::Past(PastItem::FunctionCallOutput(FunctionCallOutput {
            output: ToolOutput::Parts(parts),
            ..
        })) => parts,
        InputItem::Past(PastItem::CustomToolCallOutput(CustomToolCallOutput {
            output: ToolOutput::Parts(parts),
            ..
        })) => parts,
        _ => &mut [],
    }
}

/// Replaces every URL by its parsed form, so that the engine fetches what was checked.
pub(super) fn normalise_urls(input: &mut Input) {
    let Input::Items(items) = input else { return };
    for part in items.iter_mut().flat_map(item_parts_mut) {
        match part {
            InputPart::InputImage { image_url, .. } | InputPart::ImageUrl { image_url } => {
                match image_url {
                    ImageSource::Url(url) => media::normalise_url(url),
                    ImageSource::Object(image) => media::normalise_url(&mut image.url),
                }
            }
            InputPart::InputFile(file) => {
                file.file_data.iter_mut().for_each(media::normalise_url);
                file.file_url.iter_mut().for_each(media::normalise_url);
            }
            _ => {}
        }
    }
}

/// The URLs of all images and documents, data URLs included.
pub(super) fn list_urls(input: &Input) -> impl Iterator<Item = &str> {
    let items = match input {
        Input::Text(_) => &[],
        Input::Items(items) => items.as_slice(),
    };
    items.iter().flat_map(item_parts).filter_map(|part| match part {
        InputPart::InputImage { image_url, .. } | InputPart::ImageUrl { image_url } => {
            Some(match image_url {
                ImageSource::Url(url) => url.as_str(),
                ImageSource::Object(image) => &image.url,
            })
        }
        InputPart::InputFile(file) => file.file_data.as_deref().or(file.file_url.as_deref()),
        _ => None,
    })
}

/// Puts the system prompts before the messages. Many chat templates accept only one system message,
/// so those at the start of the conversation are merged into it.
pub(super) fn merge_system_messages(
    system: [Option<&str>; 2],
    mut turns: Vec<ChatMessage>,
) -> Vec<ChatMessage> {
    let mut texts: Vec<String> = system.into_iter().flatten().map(str::to_owned).collect();
    while let Some(ChatMessage::System { content: ChatContent::Text(text), .. }) = turns.first() {
        texts.push(text.clone());
        turns.remove(0);
    }
    texts.retain(|text| !text.is_empty());
    if !texts.is_empty() {
        let content = ChatContent::Text(texts.join("\n\n"));
        turns.insert(0, ChatMessage::System { content, name: None });
    }
    turns
}

/// Appends to the system message at the start.
pub(super) fn add_instructions(turns: &mut Vec<ChatMessage>, added: &str) {
    match turns.first_mut() {
        Some(ChatMessage::System { content: ChatContent::Text(text), .. }) => {
            text.push_str("\n\n");
            text.push_str(added);
        }
        _ => {
            let content = ChatContent::Text(added.to_owned());
            turns.insert(0, ChatMessage::System { content, name: None });
        }
    }
}

fn to_user_message(content: ChatContent) -> ChatMessage {
    ChatMessage::User { content, name: None }
}

pub(super) fn to_message(message: InputMessage, mut reader: MessagePartReader<'_>) -> ChatMessage {
    let is_user = message.role == InputRole::User;
    let content = match message.content {
        InputContent::Text(text) => ChatContent::Text(text),
        InputContent::Parts(parts) => reader.read_content(parts, is_user),
    };
    match message.role {
        InputRole::User => to_user_message(content),
        InputRole::System | InputRole::Developer => ChatMessage::System { content, name: None },
        InputRole::Assistant => ChatMessage::Assistant(AssistantTurn {
            content: Some(content),
            ..AssistantTurn::default()
        }),
    }
}

/// Converts the parts of one item.
pub(super) struct MessagePartReader<'a> {
    pub(super) index: usize,
    /// The member of the item with the parts.
    pub(super) field: &'static str,
    pub(super) sent: &'a CheckedMedia<'a>,
    pub(super) stand_ins: &'a mut Vec<DocumentReplacement>,
    pub(super) faults: &'a mut ValidationFaults,
    pub(super) images: usize,
    pub(super) files: usize,
}

impl MessagePartReader<'_> {
    /// A single text part becomes plain text, which every engine accepts.
    fn read_content(&mut self, parts: Vec<InputPart>, is_user: bool) -> ChatContent {
        let mut kinds: Vec<PartKind> = Vec::with_capacity(parts.len());
        for (position, part) in parts.into_iter().enumerate() {
            let is_text = !matches!(
                part,
                InputPart::InputImage { .. } | InputPart::ImageUrl { .. } | InputPart::InputFile(_)
            );
            if is_user || is_text {
                kinds.extend(self.read_part(position, part));
            } else {
                self.add_fault(position, "Only messages of the user may have parts but text");
            }
        }
        if let [PartKind::Text(text)] = kinds.as_mut_slice() {
            return ChatContent::Text(std::mem::take(text));
        }
        ChatContent::Parts(
            kinds.into_iter().map(|kind| ChatContentPart { kind, cache: None }).collect(),
        )
    }

    pub(super) fn read_part(&mut self, position: usize, part: InputPart) -> Option<PartKind> {
        let (source, detail) = match part {
            InputPart::InputText { text }
            | InputPart::OutputText { text }
            | InputPart::Text { text }
            | InputPart::Refusal { refusal: text } => return Some(PartKind::Text(text)),
            InputPart::InputFile(file) => return self.read_file(position, file),
            InputPart::InputImage { image_url, detail } => (image_url, detail),
            InputPart::ImageUrl { image_url } => (image_url, None),
        };
        let (url, detail) = match source {
            ImageSource::Url(url) => (url, detail),
            ImageSource::Object(image) => (image.url, image.detail.or(detail)),
        };
        self.images += 1;
        if let Err(fault) = check_picture(&url) {
            self.add_fault(position, &describe_failed_check("image", fault));
        } else if let Some(fault) = self.sent.hosts.fault(&url) {
            self.add_fault(position, &describe_failed_check("image", fault));
        } else if IMAGES_MAX < self.images {
            self.add_fault(position, &format!("A message may have at most {IMAGES_MAX} images"));
        }
        Some(PartKind::Image { url, detail })
    }

    fn read_file(&mut self, position: usize, file: InputFile) -> Option<PartKind> {
        self.files += 1;
        if FILES_MAX < self.files {
            self.add_fault(position, &format!("A message may have at most {FILES_MAX} files"));
        }
        let InputFile { file_data, file_url, filename } = file;
        let Some(file_data) = file_data.or(file_url) else {
            self.add_fault(
                position,
                "Files are not stored; send this one as `file_data`, a data URL",
            );
            return None;
        };
        if let Some(fault) = self.sent.hosts.fault(&file_data) {
            self.add_fault(position, &describe_failed_check("file", fault));
            return None;
        }
        let file = FileData { file_data, filename };
        let part = |reads_documents| {
            self.sent.documents.prompt_part((self.index, position), &file, reads_documents)
        };
        let (kind, stand_in) = (part(true), part(false));
        match kind {
            Ok(kind) => {
                if matches!(kind, PartKind::Document { .. }) {
                    self.stand_ins.push(stand_in);
                }
                Some(kind)
            }
            Err(problem) => {
                self.add_fault(position, &problem);
                None
            }
        }
    }

    pub(super) fn add_fault(&mut self, position: usize, message: &str) {
        let (input, field) = (PathStep::from("input"), PathStep::from(self.field));
        self.faults.at([input, self.index.into(), field, position.into()]).push(message);
    }
}
