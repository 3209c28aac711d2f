//! Checks a request against the capabilities of a model. Reports every fault, each at its field.

use domain::catalogue::{TextCapability, TextSpec};
use schema_check::{PathStep, ValidationFaults};
use wire::chat::{ChatCompletionRequest, ContentPart, Message, MessageContent, ResponseFormat};

/// Per message.
const IMAGES_MAX: usize = 10;
const AUDIOS_MAX: usize = 5;
const VIDEOS_MAX: usize = 3;
const FILES_MAX: usize = 5;
/// Per request, if the model's entry sets no other limit.
const REQUEST_VIDEOS_MAX: u64 = 3;

pub(super) fn check_capabilities(
    body: &ChatCompletionRequest,
    text: &TextSpec,
) -> ValidationFaults {
    let mut gate = CapabilityCheck { text, faults: ValidationFaults::default() };
    for (index, message) in body.messages.iter().enumerate() {
        gate.check_message(index, message);
    }
    gate.check_totals(body);
    gate.check_options(body);
    gate.check_length(body);
    gate.check_user(body);
    gate.faults
}

struct CapabilityCheck<'a> {
    text: &'a TextSpec,
    faults: ValidationFaults,
}

impl CapabilityCheck<'_> {
    fn check_message(&mut self, index: usize, message: &Message) {
        let Some(MessageContent::Parts(parts)) = message_content(message) else { return };
        let is_user = matches!(message, Message::User { .. });
        let mut counts = [0_usize; 4];
        for (part_index, part) in parts.iter().enumerate() {
            let Some(kind) = ChatMediaKind::from_part(part) else { continue };
            let place = [
                PathStep::from("messages"),
                PathStep::from(index),
                PathStep::from("content"),
                PathStep::from(part_index),
            ];
            counts[kind.position()] += 1;
            if !is_user {
                self.faults.at(place).push("Only messages of the user may have parts but text");
            } else if let Some(capability) = kind.capability()
                && !self.text.has_capability(capability)
            {
                let message = format!("This model does not support {}", kind.display_name());
                self.faults.at(place).push(message);
            } else if kind.max_parts() < counts[kind.position()] {
                let message = format!(
                    "A message may have at most {} {}",
                    kind.max_parts(),
                    kind.display_name()
                );
                self.faults.at(place).push(message);
            }
        }
    }

    /// Checks the totals of the request. For a model without `MultipleImages`, only the latest
    /// message with images counts.
    fn check_totals(&mut self, body: &ChatCompletionRequest) {
        let counts = |kind: ChatMediaKind| {
            body.messages.iter().map(move |message| count_parts(message, kind)).filter(|it| 0 < *it)
        };
        let images = if self.text.has_capability(TextCapability::MultipleImages) {
            counts(ChatMediaKind::Image).sum()
        } else {
            counts(ChatMediaKind::Image).next_back().unwrap_or(0)
        };
        let totals = [
            (images, self.text.images_max, "images"),
            (
                counts(ChatMediaKind::Video).sum(),
                Some(self.text.videos_max.unwrap_or(REQUEST_VIDEOS_MAX)),
                "videos",
            ),
        ];
        for (total, max, words) in totals {
            if let Some(max) = max
                && max < total
            {
                let message = format!("This model takes at most {max} {words} in a request");
                self.faults.at(["messages"]).push(message);
            }
        }
    }

    fn check_options(&mut self, body: &ChatCompletionRequest) {
        let has_tools = body.tools.as_ref().is_some_and(|tools| !tools.is_empty());
        let is_structured = match &body.response_format {
            None | Some(ResponseFormat::Text) => false,
            Some(ResponseFormat::JsonObject | ResponseFormat::JsonSchema { .. }) => true,
        };
        let has_top = body.top_logprobs.is_some_and(|top| 0 < top);
        let wanted = [
            ("tools", has_tools, TextCapability::Tools, "tools"),
            ("tool_choice", body.tool_choice.is_some(), TextCapability::Tools, "tools"),
            (
                "parallel_tool_calls",
                body.parallel_tool_calls == Some(true),
                TextCapability::Tools,
                "tools",
            ),
            ("response_format", is_structured, TextCapability::JsonSchema, "structured answers"),
            (
                "logprobs",
                body.logprobs == Some(true),
                TextCapability::Logprobs,
                "log probabilities",
            ),
            ("top_logprobs", has_top, TextCapability::Logprobs, "log probabilities"),
        ];
        for (field, is_asked, capability, words) in wanted {
            if is_asked && !self.text.has_capability(capability) {
                self.faults.at([field]).push(format!("This model does not support {words}"));
            }
        }
    }

    /// Checks `anon_user_id`, which is otherwise ignored, as related services do.
    fn check_user(&mut self, body: &ChatCompletionRequest) {
        let Some(user) = &body.anon_user_id else { return };
        let is_printable = user.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        if !is_printable || user.contains("||") {
            let message = "Must be printable ASCII without `||`";
            self.faults.at(["anon_user_id"]).push(message);
        }
    }

    fn check_length(&mut self, body: &ChatCompletionRequest) {
        let Some(asked) = body.max_completion_tokens else { return };
        let max = answer_tokens_max(self.text);
        if max < asked {
            let message = format!("This model answers with at most {max} tokens");
            self.faults.at(["max_completion_tokens"]).push(message);
        }
    }
}

/// The longest answer of a model, at most its context.
pub(super) fn answer_tokens_max(text: &TextSpec) -> u64 {
    text.max_completion_tokens.unwrap_or(text.context_tokens).min(text.context_tokens)
}

/// Content that is not text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ChatMediaKind {
    Image,
    Audio,
    Video,
    File,
}

impl ChatMediaKind {
    fn from_part(part: &ContentPart) -> Option<ChatMediaKind> {
        match part {
            ContentPart::Text(_) => None,
            ContentPart::ImageUrl { .. } => Some(ChatMediaKind::Image),
            ContentPart::InputAudio { .. } => Some(ChatMediaKind::Audio),
            ContentPart::VideoUrl { .. } => Some(ChatMediaKind::Video),
            ContentPart::File(_) => Some(ChatMediaKind::File),
        }
    }

    fn position(self) -> usize {
        match self {
            ChatMediaKind::Image => 0,
            ChatMediaKind::Audio => 1,
            ChatMediaKind::Video => 2,
            ChatMediaKind::File => 3,
        }
    }

    fn max_parts(self) -> usize {
        match self {
            ChatMediaKind::Image => IMAGES_MAX,
            ChatMediaKind::Audio => AUDIOS_MAX,
            ChatMediaKind::Video => VIDEOS_MAX,
            ChatMediaKind::File => FILES_MAX,
        }
    }

    /// None for files: they may be text, which every model takes; others are checked when read.
    fn capability(self) -> Option<TextCapability> {
        match self {
            ChatMediaKind::Image => Some(TextCapability::Vision),
            ChatMediaKind::Audio => Some(TextCapability::AudioInput),
            ChatMediaKind::Video => Some(TextCapability::VideoInput),
            ChatMediaKind::File => None,
        }
    }

    fn display_name(self) -> &'static str {
        match self {
            ChatMediaKind::Image => "images",
            ChatMediaKind::Audio => "audio input",
            ChatMediaKind::Video => "video input",
            ChatMediaKind::File => "files",
        }
    }
}

fn count_parts(message: &Message, kind: ChatMediaKind) -> u64 {
    let Some(MessageContent::Parts(parts)) = message_content(message) else { return 0 };
    let found = parts.iter().filter(|part| ChatMediaKind::from_part(part) == Some(kind)).count();
    u64::try_from(found).unwrap_or(u64::MAX)
}

fn message_content(message: &Message) -> Option<&MessageContent> {
    match message {
        Message::User { content, .. }
        | Message::System { content, .. }
        | Message::Developer { content, .. }
        | Message::Tool { content, .. } => Some(content),
        Message::Assistant { content, .. } => content.as_ref(),
    }
}
