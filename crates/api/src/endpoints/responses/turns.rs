//! Turns the items of a conversation into chat messages.

use domain::media::{self, check_picture};
use engine::{AssistantTurn, Content, Message, Part, PartKind, ToolCall};
use schema_check::{Faults, PathStep};
use serde_json::{Map, Value};
use wire::chat::FileData;
use wire::responses::{
    FunctionCall, ImageSource, Input, InputContent, InputFile, InputItem, InputMessage, InputPart,
    InputRole,
};

use crate::endpoints::document::{Documents, File, not_passed};
use crate::hosts::Judged;

/// Per message.
const IMAGES_MAX: usize = 10;
const FILES_MAX: usize = 5;

/// Check results and texts of media and documents.
#[derive(Clone, Copy)]
pub(super) struct Sent<'a> {
    pub(super) hosts: &'a Judged,
    pub(super) documents: &'a Documents,
}

/// The replacement of a document for models that cannot read it, or why there is none.
pub(super) type StandIn = Result<PartKind, String>;

/// The messages, after the system prompts.
pub(super) fn of(
    system: [Option<&str>; 2],
    input: Input,
    sent: &Sent<'_>,
    (stand_ins, faults): (&mut Vec<StandIn>, &mut Faults),
) -> Vec<Message> {
    let mut turns = Vec::new();
    match input {
        Input::Text(text) => turns.push(user(Content::Text(text))),
        Input::Items(items) => {
            for (index, item) in items.into_iter().enumerate() {
                let reader = Reader { index, sent, stand_ins, faults, images: 0, files: 0 };
                add(&mut turns, item, reader);
            }
        }
    }
    if turns.is_empty() {
        faults.at(["input"]).push("Must have an item that is not left out, such as a message");
    }
    under(system, turns)
}

/// The documents sent as data URLs, moved out of the request.
pub(super) fn taken(input: &mut Input) -> Vec<File> {
    let Input::Items(items) = input else { return Vec::new() };
    let mut files = Vec::new();
    for (index, item) in items.iter_mut().enumerate() {
        let InputItem::Message(message) = item else { continue };
        let InputContent::Parts(parts) = &mut message.content else { continue };
        for (position, part) in parts.iter_mut().enumerate() {
            let InputPart::InputFile(InputFile { file_data: Some(data), .. }) = part else {
                continue;
            };
            files.extend(File::take((index, position), data));
        }
    }
    files
}

/// Replaces every URL by its parsed form, so that the engine fetches what was checked.
pub(super) fn normalise(input: &mut Input) {
    let Input::Items(items) = input else { return };
    for item in items {
        let InputItem::Message(message) = item else { continue };
        let InputContent::Parts(parts) = &mut message.content else { continue };
        for part in parts {
            match part {
                InputPart::InputImage { image_url, .. } | InputPart::ImageUrl { image_url } => {
                    match image_url {
                        ImageSource::Url(url) => media::normalise(url),
                        ImageSource::Object(image) => media::normalise(&mut image.url),
                    }
                }
                InputPart::InputFile(file) => {
                    file.file_data.iter_mut().for_each(media::normalise);
                    file.file_url.iter_mut().for_each(media::normalise);
                }
                _ => {}
            }
        }
    }
}

/// The URLs of all images and documents, data URLs included.
pub(super) fn addresses(input: &Input) -> impl Iterator<Item = &str> {
    let items = match input {
        Input::Text(_) => &[],
        Input::Items(items) => items.as_slice(),
    };
    let parts = items.iter().flat_map(|item| match item {
        InputItem::Message(InputMessage { content: InputContent::Parts(parts), .. }) => {
            parts.as_slice()
        }
        _ => &[],
    });
    parts.filter_map(|part| match part {
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
fn under(system: [Option<&str>; 2], mut turns: Vec<Message>) -> Vec<Message> {
    let mut texts: Vec<String> = system.into_iter().flatten().map(str::to_owned).collect();
    while let Some(Message::System { content: Content::Text(text), .. }) = turns.first() {
        texts.push(text.clone());
        turns.remove(0);
    }
    texts.retain(|text| !text.is_empty());
    if !texts.is_empty() {
        let content = Content::Text(texts.join("\n\n"));
        turns.insert(0, Message::System { content, name: None });
    }
    turns
}

/// Appends to the system message at the start.
pub(super) fn add_instructions(turns: &mut Vec<Message>, added: &str) {
    match turns.first_mut() {
        Some(Message::System { content: Content::Text(text), .. }) => {
            text.push_str("\n\n");
            text.push_str(added);
        }
        _ => {
            let content = Content::Text(added.to_owned());
            turns.insert(0, Message::System { content, name: None });
        }
    }
}

fn user(content: Content) -> Message {
    Message::User { content, name: None }
}

fn add(turns: &mut Vec<Message>, item: InputItem, reader: Reader<'_>) {
    match item {
        InputItem::Message(message) => turns.push(turn(message, reader)),
        InputItem::FunctionCall(call) => add_call(turns, call),
        InputItem::FunctionCallOutput(output) => {
            let text = match output.output {
                Value::String(text) => text,
                other => other.to_string(),
            };
            let content = Content::Text(text);
            turns.push(Message::Tool { call_id: output.call_id, content });
        }
        // They refer to stored data, and nothing is stored.
        InputItem::Reasoning(_) | InputItem::ItemReference(_) | InputItem::Search(_) => {}
    }
}

/// Adds a call to the assistant's turn before it, or to a new one.
fn add_call(turns: &mut Vec<Message>, call: FunctionCall) {
    let FunctionCall { call_id, name, arguments, .. } = call;
    let call = ToolCall { id: call_id, name, arguments, extra: Map::new() };
    match turns.last_mut() {
        Some(Message::Assistant(turn)) => turn.tool_calls.push(call),
        _ => turns.push(Message::Assistant(AssistantTurn {
            tool_calls: vec![call],
            ..AssistantTurn::default()
        })),
    }
}

fn turn(message: InputMessage, mut reader: Reader<'_>) -> Message {
    let is_user = message.role == InputRole::User;
    let content = match message.content {
        InputContent::Text(text) => Content::Text(text),
        InputContent::Parts(parts) => reader.content(parts, is_user),
    };
    match message.role {
        InputRole::User => user(content),
        InputRole::System | InputRole::Developer => Message::System { content, name: None },
        InputRole::Assistant => {
            Message::Assistant(AssistantTurn { content: Some(content), ..AssistantTurn::default() })
        }
    }
}

/// Converts the parts of one message.
struct Reader<'a> {
    index: usize,
    sent: &'a Sent<'a>,
    stand_ins: &'a mut Vec<StandIn>,
    faults: &'a mut Faults,
    images: usize,
    files: usize,
}

impl Reader<'_> {
    /// A single text part becomes plain text, which every engine accepts.
    fn content(&mut self, parts: Vec<InputPart>, is_user: bool) -> Content {
        let mut kinds: Vec<PartKind> = Vec::with_capacity(parts.len());
        for (position, part) in parts.into_iter().enumerate() {
            let is_text = !matches!(
                part,
                InputPart::InputImage { .. } | InputPart::ImageUrl { .. } | InputPart::InputFile(_)
            );
            if is_user || is_text {
                kinds.extend(self.part(position, part));
            } else {
                self.fault(position, "Only messages of the user may have parts but text");
            }
        }
        if let [PartKind::Text(text)] = kinds.as_mut_slice() {
            return Content::Text(std::mem::take(text));
        }
        Content::Parts(kinds.into_iter().map(|kind| Part { kind, cache: None }).collect())
    }

    fn part(&mut self, position: usize, part: InputPart) -> Option<PartKind> {
        let (source, detail) = match part {
            InputPart::InputText { text }
            | InputPart::OutputText { text }
            | InputPart::Text { text }
            | InputPart::Refusal { refusal: text } => return Some(PartKind::Text(text)),
            InputPart::InputFile(file) => return self.file(position, file),
            InputPart::InputImage { image_url, detail } => (image_url, detail),
            InputPart::ImageUrl { image_url } => (image_url, None),
        };
        let (url, detail) = match source {
            ImageSource::Url(url) => (url, detail),
            ImageSource::Object(image) => (image.url, image.detail.or(detail)),
        };
        self.images += 1;
        if let Err(fault) = check_picture(&url) {
            self.fault(position, &not_passed("image", fault));
        } else if let Some(fault) = self.sent.hosts.fault(&url) {
            self.fault(position, &not_passed("image", fault));
        } else if IMAGES_MAX < self.images {
            self.fault(position, &format!("A message may have at most {IMAGES_MAX} images"));
        }
        Some(PartKind::Image { url, detail })
    }

    fn file(&mut self, position: usize, file: InputFile) -> Option<PartKind> {
        self.files += 1;
        if FILES_MAX < self.files {
            self.fault(position, &format!("A message may have at most {FILES_MAX} files"));
        }
        let InputFile { file_data, file_url, filename } = file;
        let Some(file_data) = file_data.or(file_url) else {
            self.fault(position, "Files are not stored; send this one as `file_data`, a data URL");
            return None;
        };
        if let Some(fault) = self.sent.hosts.fault(&file_data) {
            self.fault(position, &not_passed("file", fault));
            return None;
        }
        let file = FileData { file_data, filename };
        let part = |reads_documents| {
            self.sent.documents.part((self.index, position), &file, reads_documents)
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
                self.fault(position, &problem);
                None
            }
        }
    }

    fn fault(&mut self, position: usize, message: &str) {
        let (input, content) = (PathStep::from("input"), PathStep::from("content"));
        self.faults.at([input, self.index.into(), content, position.into()]).push(message);
    }
}
