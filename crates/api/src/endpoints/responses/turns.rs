//! From the items of a conversation to the turns of a chat.

use domain::media::check_picture;
use engine::{AssistantTurn, Content, Message, Part, PartKind, ToolCall};
use serde_json::{Map, Value};
use shape::{Faults, Step};
use wire::responses::{
    FunctionCall, ImageSource, Input, InputContent, InputItem, InputMessage, InputPart, InputRole,
};

use crate::endpoints::chat::media::told;
use crate::hosts::Judged;

/// Of one message.
const IMAGES_MAX: usize = 10;

/// The turns, after what stands before them all.
pub(super) fn of(
    system: [Option<&str>; 2],
    input: Input,
    hosts: &Judged,
    faults: &mut Faults,
) -> Vec<Message> {
    let mut turns = Vec::new();
    match input {
        Input::Text(text) => turns.push(user(Content::Text(text))),
        Input::Items(items) => {
            for (index, item) in items.into_iter().enumerate() {
                add(&mut turns, index, item, (hosts, faults));
            }
        }
    }
    if turns.is_empty() {
        faults.at(["input"]).push("Must have an item that is not left out, such as a message");
    }
    under(system, turns)
}

/// Every picture of the conversation, wherever it lies.
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
        _ => None,
    })
}

/// Puts instructions before the turns. Many templates know one system message only, so those that
/// the conversation begins with are joined to it.
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

fn user(content: Content) -> Message {
    Message::User { content, name: None }
}

fn add(
    turns: &mut Vec<Message>,
    index: usize,
    item: InputItem,
    (hosts, faults): (&Judged, &mut Faults),
) {
    match item {
        InputItem::Message(message) => turns.push(turn(index, message, hosts, faults)),
        InputItem::FunctionCall(call) => add_call(turns, call),
        InputItem::FunctionCallOutput(output) => {
            let text = match output.output {
                Value::String(text) => text,
                other => other.to_string(),
            };
            let content = Content::Text(text);
            turns.push(Message::Tool { call_id: output.call_id, content });
        }
        // Nothing was stored that they could stand for.
        InputItem::Reasoning(_) | InputItem::ItemReference(_) => {}
    }
}

/// Calls belong to the turn in which the model made them.
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

fn turn(index: usize, message: InputMessage, hosts: &Judged, faults: &mut Faults) -> Message {
    let is_user = message.role == InputRole::User;
    let content = match message.content {
        InputContent::Text(text) => Content::Text(text),
        InputContent::Parts(parts) => {
            Reader { index, is_user, images: 0, hosts, faults }.content(parts)
        }
    };
    match message.role {
        InputRole::User => user(content),
        InputRole::System | InputRole::Developer => Message::System { content, name: None },
        InputRole::Assistant => {
            Message::Assistant(AssistantTurn { content: Some(content), ..AssistantTurn::default() })
        }
    }
}

/// Reads the parts of one message.
struct Reader<'a> {
    index: usize,
    is_user: bool,
    images: usize,
    hosts: &'a Judged,
    faults: &'a mut Faults,
}

impl Reader<'_> {
    /// One part of text is a plain text, which every engine takes.
    fn content(&mut self, parts: Vec<InputPart>) -> Content {
        let parts = parts.into_iter().enumerate();
        let mut kinds: Vec<PartKind> =
            parts.filter_map(|(position, part)| self.part(position, part)).collect();
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
            InputPart::InputImage { image_url, detail } => (image_url, detail),
            InputPart::ImageUrl { image_url } => (image_url, None),
        };
        let (url, detail) = match source {
            ImageSource::Url(url) => (url, detail),
            ImageSource::Object(image) => (image.url, image.detail.or(detail)),
        };
        self.images += 1;
        if !self.is_user {
            self.fault(position, "Only messages of the user may have parts but text");
        } else if let Err(fault) = check_picture(&url) {
            self.fault(position, &told("image", fault));
        } else if let Some(fault) = self.hosts.fault(&url) {
            self.fault(position, &told("image", fault));
        } else if IMAGES_MAX < self.images {
            self.fault(position, &format!("A message may have at most {IMAGES_MAX} images"));
        }
        Some(PartKind::Image { url, detail })
    }

    fn fault(&mut self, position: usize, message: &str) {
        let (input, content) = (Step::from("input"), Step::from("content"));
        self.faults.at([input, self.index.into(), content, position.into()]).push(message);
    }
}
