//! Turns the blocks of one message of the user, or of a tool's result, into parts of a prompt.

use engine::{ChatContent, ChatContentPart, ChatMessage, PartKind};
use schema_check::ValidationFaults;
use serde_json::{Map, Value};
use wire::messages::MessageBlock;

use super::fields::{FieldPath, describe_unknown_tag, read_cache_control, read_text, take_text};
use super::tool_changes::ToolChanges;

/// The treatment of blocks that cannot be translated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockPolicy {
    /// They are faults.
    Strict,
    /// They are counted as text: the provider gets the caller's own request.
    Lenient,
}

const USER_BLOCKS: [&str; 7] =
    ["document", "image", "search_result", "text", "tool_addition", "tool_removal", "tool_result"];
const RESULT_BLOCKS: [&str; 5] = ["document", "image", "search_result", "text", "tool_reference"];
const SOURCES: [&str; 4] = ["base64", "content", "text", "url"];
const FILE_SOURCE: &str = "Files are not stored here; send the content as `base64` or `text`";
const PICTURE_ONLY: &str = "See the attached image.";
/// Depth of documents within documents.
const DEPTH_MAX: usize = 3;

/// The parts and results of one message, and the places of its images and documents in their order.
pub(super) struct BlockReader<'a> {
    pub(super) policy: BlockPolicy,
    pub(super) faults: &'a mut ValidationFaults,
    pub(super) media_paths: &'a mut Vec<FieldPath>,
    pub(super) tool_changes: &'a mut ToolChanges,
    pub(super) parts: Vec<ChatContentPart>,
    /// Messages with tools' results, which come before the parts.
    pub(super) results: Vec<ChatMessage>,
}

impl BlockReader<'_> {
    /// Adds the parts of a block of the user.
    pub(super) fn read_user_block(&mut self, block: MessageBlock, path: &FieldPath) {
        match block.kind.as_str() {
            "tool_result" => self.read_tool_result(block.fields, path),
            "tool_addition" | "tool_removal" => {
                let is_added = block.kind == "tool_addition";
                let mut faults = ValidationFaults::default();
                self.tool_changes.read_change(block.fields, is_added, path, &mut faults);
                if self.policy == BlockPolicy::Strict {
                    self.faults.merge(faults);
                }
            }
            _ => self.read_block(block, path, &USER_BLOCKS, 0),
        }
    }

    /// Adds the parts of a block with content.
    fn read_block(
        &mut self,
        block: MessageBlock,
        path: &FieldPath,
        expected: &[&str],
        depth: usize,
    ) {
        let MessageBlock { kind, mut fields } = block;
        let cache = read_cache_control(&fields);
        match kind.as_str() {
            "text" => {
                if let Some(text) = self.take_text(&mut fields, "text", path) {
                    self.parts.push(ChatContentPart { kind: PartKind::Text(text), cache });
                }
            }
            "image" => {
                if let Some(url) = self.take_source(&mut fields, path) {
                    let kind = PartKind::Image { url, detail: None };
                    self.push_media(ChatContentPart { kind, cache }, path);
                }
            }
            "document" => self.read_document(fields, path, depth),
            "search_result" => {
                let text = describe_search_result(&fields);
                self.parts.push(ChatContentPart { kind: PartKind::Text(text), cache });
            }
            _ => self.read_unknown(&kind, fields, path, expected),
        }
    }

    fn read_unknown(
        &mut self,
        kind: &str,
        fields: Map<String, Value>,
        path: &FieldPath,
        expected: &[&str],
    ) {
        match self.policy {
            BlockPolicy::Strict => {
                path.push_fault(self.faults, describe_unknown_tag(kind, expected));
            }
            BlockPolicy::Lenient => self.push_text(Value::Object(fields).to_string()),
        }
    }

    fn read_document(&mut self, mut fields: Map<String, Value>, path: &FieldPath, depth: usize) {
        let cache = read_cache_control(&fields);
        let title = read_text(&fields, "title").map(str::to_owned);
        let source = fields.get("source").and_then(Value::as_object);
        match source.and_then(|source| read_text(source, "type")) {
            Some("text") => {
                let text = source.and_then(|source| read_text(source, "data")).unwrap_or_default();
                let text = label_text(title.as_deref(), text);
                self.parts.push(ChatContentPart { kind: PartKind::Text(text), cache });
            }
            Some("content") if depth < DEPTH_MAX => {
                let content = fields.get_mut("source").and_then(|it| it.get_mut("content"));
                let content = content.map(Value::take).unwrap_or_default();
                self.read_nested(content, &path.join("source").join("content"), depth + 1);
            }
            _ => {
                if let Some(url) = self.take_source(&mut fields, path) {
                    let kind = PartKind::Document { url, name: title };
                    self.push_media(ChatContentPart { kind, cache }, path);
                }
            }
        }
    }

    /// Adds the parts of a text or of blocks within a block.
    fn read_nested(&mut self, content: Value, path: &FieldPath, depth: usize) {
        match content {
            Value::Null => {}
            Value::String(text) => self.push_text(text),
            Value::Array(blocks) => {
                for (index, block) in blocks.into_iter().enumerate() {
                    let place = path.join(index);
                    if let Some(block) = self.parse_block(block, &place) {
                        self.read_block(block, &place, &RESULT_BLOCKS, depth);
                    }
                }
            }
            _ => self.add_fault(path, "Input should be a string or a list of blocks"),
        }
    }

    fn parse_block(&mut self, block: Value, path: &FieldPath) -> Option<MessageBlock> {
        let parsed = serde_json::from_value(block).ok();
        if parsed.is_none() {
            self.add_fault(path, "Input should be an object with a `type`");
        }
        parsed
    }

    /// Adds the message with a result. Its images become parts of the user's message after it.
    fn read_tool_result(&mut self, mut fields: Map<String, Value>, path: &FieldPath) {
        let Some(call_id) = self.take_text(&mut fields, "tool_use_id", path) else { return };
        let first_own = self.parts.len();
        let content = fields.get_mut("content").map(Value::take).unwrap_or_default();
        self.read_result_content(content, &path.join("content"));
        let mut texts = Vec::new();
        let mut media = Vec::new();
        for part in self.parts.split_off(first_own) {
            match part.kind {
                PartKind::Text(text) => texts.push(text),
                _ => media.push(part),
            }
        }
        if texts.is_empty() && !media.is_empty() {
            texts.push(PICTURE_ONLY.to_owned());
        }
        self.parts.append(&mut media);
        let is_error = fields.get("is_error").and_then(Value::as_bool) == Some(true);
        let told = if is_error { "Error: " } else { "" };
        let content = ChatContent::Text(format!("{told}{}", texts.join("\n")));
        self.results.push(ChatMessage::Tool { call_id, content });
    }

    fn read_result_content(&mut self, content: Value, path: &FieldPath) {
        let Value::Array(blocks) = content else {
            return self.read_nested(content, path, 1);
        };
        for (index, block) in blocks.into_iter().enumerate() {
            let place = path.join(index);
            let Some(block) = self.parse_block(block, &place) else { continue };
            if block.kind == "tool_reference" {
                let name = read_text(&block.fields, "tool_name").unwrap_or_default();
                self.push_text(format!("The tool {name} can be called now."));
                self.tool_changes.add_reference(name);
                continue;
            }
            self.read_block(block, &place, &RESULT_BLOCKS, 1);
        }
    }

    /// The URL or data URL of an image or a document.
    fn take_source(&mut self, fields: &mut Map<String, Value>, path: &FieldPath) -> Option<String> {
        let path = path.join("source");
        let Some(Value::Object(mut source)) = fields.get_mut("source").map(Value::take) else {
            self.add_fault(&path, super::fields::REQUIRED);
            return None;
        };
        let kind = read_text(&source, "type").unwrap_or_default().to_owned();
        match kind.as_str() {
            "base64" => {
                let media_type = self.take_text(&mut source, "media_type", &path);
                let data = self.take_text(&mut source, "data", &path);
                Some(format!("data:{};base64,{}", media_type?, data?))
            }
            "url" => self.take_text(&mut source, "url", &path),
            "file" if self.policy == BlockPolicy::Strict => {
                path.push_fault(self.faults, FILE_SOURCE);
                None
            }
            _ => {
                self.add_fault(&path, &describe_unknown_tag(&kind, &SOURCES));
                None
            }
        }
    }

    fn take_text(
        &mut self,
        fields: &mut Map<String, Value>,
        name: &str,
        path: &FieldPath,
    ) -> Option<String> {
        let mut faults = ValidationFaults::default();
        let text = take_text(fields, name, path, &mut faults);
        if self.policy == BlockPolicy::Strict {
            self.faults.merge(faults);
        }
        text
    }

    fn push_media(&mut self, part: ChatContentPart, path: &FieldPath) {
        self.media_paths.push(path.clone());
        self.parts.push(part);
    }

    fn push_text(&mut self, text: String) {
        self.parts.push(ChatContentPart { kind: PartKind::Text(text), cache: None });
    }

    fn add_fault(&mut self, path: &FieldPath, message: &str) {
        if self.policy == BlockPolicy::Strict {
            path.push_fault(self.faults, message);
        }
    }
}

fn label_text(title: Option<&str>, text: &str) -> String {
    match title {
        Some(title) => format!("[File: {title}]\n{text}"),
        None => text.to_owned(),
    }
}

/// A search result as text: its title, its source, and its texts.
fn describe_search_result(fields: &Map<String, Value>) -> String {
    let texts = fields.get("content").and_then(Value::as_array).map(Vec::as_slice);
    let texts = texts.unwrap_or_default().iter().filter_map(|it| it["text"].as_str());
    let head = [read_text(fields, "title"), read_text(fields, "source")];
    head.into_iter().flatten().chain(texts).collect::<Vec<_>>().join("\n")
}
