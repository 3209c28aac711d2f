//! Turns the messages of a request into messages of a chat.

use std::collections::HashSet;

use engine::{AssistantTurn, ChatContent, ChatContentPart, ChatMessage, PartKind, ToolCall};
use schema_check::ValidationFaults;
use serde_json::{Map, Value};
use wire::messages::{MessageBlock, MessageTurn, TurnContent};

use super::blocks::{BlockPolicy, BlockReader};
use super::fields::{FieldPath, describe_unknown_tag, read_cache_control, read_text, take_text};
use super::thinking_seal::ThinkingSeal;
use super::tool_changes::ToolChanges;
use crate::endpoints::mcp_tools::function_name::{build_call_id, build_function_name};

const ASSISTANT_BLOCKS: [&str; 8] = [
    "mcp_tool_result",
    "mcp_tool_use",
    "redacted_thinking",
    "server_tool_use",
    "text",
    "thinking",
    "tool_use",
    "web_search_tool_result",
];
const SYSTEM_BLOCKS: [&str; 3] = ["text", "tool_addition", "tool_removal"];
const NO_RESULT: &str = "There is no result.";
const ROLES: &str = "Input should be 'user', 'assistant' or 'system'";
const AFTER_SYSTEM: &str = "a system message must be the last or followed by the assistant";
/// Begins a block that changes with each version of a client and says nothing to a model.
const BILLING_HEADER: &str = "x-anthropic-billing-header:";

/// The messages of a chat, and what was found in them.
pub(super) struct TurnTranslator<'a> {
    pub(super) policy: BlockPolicy,
    pub(super) seal: &'a ThinkingSeal,
    pub(super) messages: Vec<ChatMessage>,
    pub(super) faults: ValidationFaults,
    /// The places of images and documents, in the order of the parts in `messages`.
    pub(super) media_paths: Vec<FieldPath>,
    pub(super) tool_changes: ToolChanges,
    /// The options of the last message that has some.
    pub(super) output_config: Option<Map<String, Value>>,
    /// Calls that have no result yet.
    open_calls: HashSet<String>,
    /// Calls of the service in this message that have no result yet, in order.
    open_mcp_calls: Vec<String>,
}

/// The role of the message before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TurnRole {
    None,
    User,
    Assistant,
    System,
}

impl<'a> TurnTranslator<'a> {
    pub(super) fn new(policy: BlockPolicy, seal: &'a ThinkingSeal) -> TurnTranslator<'a> {
        TurnTranslator {
            policy,
            seal,
            messages: Vec::new(),
            faults: ValidationFaults::default(),
            media_paths: Vec::new(),
            tool_changes: ToolChanges::default(),
            output_config: None,
            open_calls: HashSet::new(),
            open_mcp_calls: Vec::new(),
        }
    }

    /// Adds the system prompt.
    pub(super) fn read_system(&mut self, system: TurnContent) {
        let blocks = match system {
            TurnContent::Text(text) => {
                if !text.is_empty() {
                    let content = ChatContent::Text(text);
                    self.messages.push(ChatMessage::System { content, name: None });
                }
                return;
            }
            TurnContent::Blocks(blocks) => blocks,
        };
        let path = FieldPath::top("system");
        let mut parts = Vec::new();
        for (index, block) in blocks.into_iter().enumerate() {
            let is_billing = index == 0
                && read_text(&block.fields, "text")
                    .is_some_and(|it| it.starts_with(BILLING_HEADER));
            if !is_billing {
                parts.extend(self.read_system_block(block, &path.join(index)));
            }
        }
        if let Some(content) = merge_texts(parts, "\n\n") {
            self.messages.push(ChatMessage::System { content, name: None });
        }
    }

    /// Adds the messages of the conversation.
    pub(super) fn read_messages(&mut self, turns: Vec<MessageTurn>) {
        let mut before = TurnRole::None;
        for (index, turn) in turns.into_iter().enumerate() {
            let path = FieldPath::top("messages").join(index);
            let MessageTurn { role, content, output_config } = turn;
            self.output_config = output_config.or(self.output_config.take());
            before = match role.as_str() {
                "user" => {
                    if before == TurnRole::System {
                        self.add_fault(&path.join("role"), AFTER_SYSTEM);
                    }
                    self.read_user(content, &path.join("content"));
                    TurnRole::User
                }
                "assistant" => {
                    self.read_assistant(content, &path.join("content"));
                    TurnRole::Assistant
                }
                "system" => {
                    self.check_system_place(before, &path);
                    self.read_reminder(content, &path.join("content"));
                    TurnRole::System
                }
                _ => {
                    self.add_fault(&path.join("role"), ROLES);
                    before
                }
            };
        }
    }

    /// A system message is allowed after a message of the user only.
    fn check_system_place(&mut self, before: TurnRole, path: &FieldPath) {
        let problem = match before {
            TurnRole::User => return,
            TurnRole::None => "a system message may not be the first; use `system`",
            TurnRole::Assistant => "a system message must follow a message of the user",
            TurnRole::System => "two system messages may not follow each other",
        };
        self.add_fault(&path.join("role"), problem);
    }

    /// Adds the text of a system message to the user's message before it. There it keeps its
    /// position in the prompt, which chat templates do not allow for system messages.
    fn read_reminder(&mut self, content: TurnContent, path: &FieldPath) {
        let parts: Vec<ChatContentPart> = match content {
            TurnContent::Text(text) => {
                vec![ChatContentPart { kind: PartKind::Text(text), cache: None }]
            }
            TurnContent::Blocks(blocks) => {
                let blocks = blocks.into_iter().enumerate();
                blocks
                    .filter_map(|(index, block)| self.read_system_block(block, &path.join(index)))
                    .collect()
            }
        };
        let cache = parts.iter().rev().find_map(|part| part.cache);
        let texts: Vec<String> =
            parts.into_iter().filter_map(|part| into_text(part.kind)).collect();
        let text = texts.join("\n");
        if text.is_empty() {
            return;
        }
        let text = format!("<system-reminder>\n{text}\n</system-reminder>");
        self.append_to_user(ChatContentPart { kind: PartKind::Text(text), cache });
    }

    fn append_to_user(&mut self, part: ChatContentPart) {
        match self.messages.last_mut() {
            Some(ChatMessage::User { content, .. }) => {
                let mut parts = match std::mem::replace(content, ChatContent::Parts(Vec::new())) {
                    ChatContent::Text(text) => {
                        vec![ChatContentPart { kind: PartKind::Text(text), cache: None }]
                    }
                    ChatContent::Parts(parts) => parts,
                };
                parts.push(part);
                *content = ChatContent::Parts(parts);
            }
            _ => {
                let content = to_content(vec![part]);
                self.messages.extend(content.map(to_user_message));
            }
        }
    }

    /// A block of the system prompt or of a system message.
    fn read_system_block(
        &mut self,
        block: MessageBlock,
        path: &FieldPath,
    ) -> Option<ChatContentPart> {
        let MessageBlock { kind, mut fields } = block;
        let cache = read_cache_control(&fields);
        match kind.as_str() {
            "text" => {
                let text = self.take_text(&mut fields, "text", path)?;
                Some(ChatContentPart { kind: PartKind::Text(text), cache })
            }
            "tool_addition" | "tool_removal" => {
                let mut faults = ValidationFaults::default();
                self.tool_changes.read_change(fields, kind == "tool_addition", path, &mut faults);
                self.merge_faults(faults);
                None
            }
            _ => self.read_unknown(&kind, fields, path, &SYSTEM_BLOCKS),
        }
    }

    fn read_user(&mut self, content: TurnContent, path: &FieldPath) {
        let blocks = match content {
            TurnContent::Text(text) => {
                return self.messages.push(to_user_message(ChatContent::Text(text)));
            }
            TurnContent::Blocks(blocks) => blocks,
        };
        let mut reader = BlockReader {
            policy: self.policy,
            faults: &mut self.faults,
            media_paths: &mut self.media_paths,
            tool_changes: &mut self.tool_changes,
            parts: Vec::new(),
            results: Vec::new(),
        };
        let mut answered = Vec::new();
        for (index, block) in blocks.into_iter().enumerate() {
            let place = path.join(index);
            let before = reader.results.len();
            reader.read_user_block(block, &place);
            if let Some(ChatMessage::Tool { call_id, .. }) = reader.results.get(before) {
                answered.push((call_id.clone(), place));
            }
        }
        let BlockReader { parts, results, .. } = reader;
        for (call_id, place) in answered {
            if !self.open_calls.remove(&call_id) {
                let message = format!(
                    "unexpected `tool_use_id` found in `tool_result` blocks: {call_id}. Each \
                     `tool_result` block must have a corresponding `tool_use` block in the \
                     previous message."
                );
                self.add_fault(&place, &message);
            }
        }
        self.messages.extend(results);
        self.messages.extend(to_content(parts).map(to_user_message));
    }

    fn read_assistant(&mut self, content: TurnContent, path: &FieldPath) {
        let mut turn = AssistantTurn::default();
        let mut texts = Vec::new();
        match content {
            TurnContent::Text(text) => texts.push(text),
            TurnContent::Blocks(blocks) => {
                for (index, block) in blocks.into_iter().enumerate() {
                    let path = path.join(index);
                    if block.kind == "mcp_tool_result" {
                        self.push_assistant(&mut turn, &mut texts);
                        self.read_mcp_result(block.fields, &path);
                        continue;
                    }
                    texts.extend(self.read_assistant_block(block, &path, &mut turn));
                }
            }
        }
        self.push_assistant(&mut turn, &mut texts);
        for call_id in std::mem::take(&mut self.open_mcp_calls) {
            let content = ChatContent::Text(NO_RESULT.to_owned());
            self.messages.push(ChatMessage::Tool { call_id, content });
        }
    }

    /// Adds the turn so far, and begins another one.
    fn push_assistant(&mut self, turn: &mut AssistantTurn, texts: &mut Vec<String>) {
        let mut turn = std::mem::take(turn);
        let text = std::mem::take(texts).concat();
        turn.content = (!text.is_empty()).then_some(ChatContent::Text(text));
        if turn.content.is_some() || !turn.tool_calls.is_empty() {
            self.messages.push(ChatMessage::Assistant(turn));
        }
    }

    /// Adds the result of a call that the service made.
    fn read_mcp_result(&mut self, mut fields: Map<String, Value>, path: &FieldPath) {
        let Some(id) = self.take_text(&mut fields, "tool_use_id", path) else { return };
        let call_id = build_call_id(&id);
        let Some(place) = self.open_mcp_calls.iter().position(|open| *open == call_id) else {
            let message = "no `mcp_tool_use` block before it has this id";
            return self.add_fault(&path.join("tool_use_id"), message);
        };
        self.open_mcp_calls.remove(place);
        let text = match fields.get("content") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(parts)) => {
                let texts = parts.iter().filter_map(|part| part["text"].as_str());
                texts.collect::<Vec<_>>().join("\n")
            }
            _ => String::new(),
        };
        let is_error = fields.get("is_error").and_then(Value::as_bool) == Some(true);
        let told = if is_error { "Error: " } else { "" };
        let content = ChatContent::Text(format!("{told}{text}"));
        self.messages.push(ChatMessage::Tool { call_id, content });
    }

    /// Adds a call that the service made.
    fn read_mcp_use(
        &mut self,
        mut fields: Map<String, Value>,
        path: &FieldPath,
        turn: &mut AssistantTurn,
    ) -> Option<()> {
        let id = self.take_text(&mut fields, "id", path)?;
        let name = self.take_text(&mut fields, "name", path)?;
        let server = self.take_text(&mut fields, "server_name", path)?;
        let input = fields.get_mut("input").map(Value::take).unwrap_or_default();
        let arguments = if input.is_null() { "{}".to_owned() } else { input.to_string() };
        let (id, name) = (build_call_id(&id), build_function_name(&server, &name, |_| false));
        self.open_mcp_calls.push(id.clone());
        turn.tool_calls.push(ToolCall { id, name, arguments, extra: Map::new() });
        Some(())
    }

    /// Adds a block to the turn. Returns its text, if it is one.
    fn read_assistant_block(
        &mut self,
        block: MessageBlock,
        path: &FieldPath,
        turn: &mut AssistantTurn,
    ) -> Option<String> {
        let MessageBlock { kind, mut fields } = block;
        match kind.as_str() {
            "text" => return self.take_text(&mut fields, "text", path),
            "tool_use" => {
                let id = self.take_text(&mut fields, "id", path)?;
                let name = self.take_text(&mut fields, "name", path)?;
                let input = fields.get_mut("input").map(Value::take).unwrap_or_default();
                let arguments = if input.is_null() { "{}".to_owned() } else { input.to_string() };
                self.open_calls.insert(id.clone());
                turn.tool_calls.push(ToolCall { id, name, arguments, extra: Map::new() });
            }
            "thinking" => {
                let shown = read_text(&fields, "thinking").unwrap_or_default();
                let signature = read_text(&fields, "signature").unwrap_or_default();
                let text = self.seal.open(shown, signature).filter(|text| !text.is_empty());
                if let Some(text) = text {
                    turn.reasoning.get_or_insert_default().push_str(&text);
                }
            }
            "mcp_tool_use" => {
                self.read_mcp_use(fields, path, turn);
            }
            "redacted_thinking" | "server_tool_use" => {}
            "web_search_tool_result" => return Some(describe_search(&fields)),
            _ => {
                let part = self.read_unknown(&kind, fields, path, &ASSISTANT_BLOCKS)?;
                return into_text(part.kind);
            }
        }
        None
    }

    /// A fault, or the block's JSON as text, for its count.
    fn read_unknown(
        &mut self,
        kind: &str,
        fields: Map<String, Value>,
        path: &FieldPath,
        expected: &[&str],
    ) -> Option<ChatContentPart> {
        if self.policy == BlockPolicy::Strict {
            path.push_fault(&mut self.faults, describe_unknown_tag(kind, expected));
            return None;
        }
        let kind = PartKind::Text(Value::Object(fields).to_string());
        Some(ChatContentPart { kind, cache: None })
    }

    fn take_text(
        &mut self,
        fields: &mut Map<String, Value>,
        name: &str,
        path: &FieldPath,
    ) -> Option<String> {
        let mut faults = ValidationFaults::default();
        let text = take_text(fields, name, path, &mut faults);
        self.merge_faults(faults);
        text
    }

    fn add_fault(&mut self, path: &FieldPath, message: &str) {
        if self.policy == BlockPolicy::Strict {
            path.push_fault(&mut self.faults, message);
        }
    }

    fn merge_faults(&mut self, faults: ValidationFaults) {
        if self.policy == BlockPolicy::Strict {
            self.faults.merge(faults);
        }
    }
}

fn to_user_message(content: ChatContent) -> ChatMessage {
    ChatMessage::User { content, name: None }
}

fn into_text(kind: PartKind) -> Option<String> {
    match kind {
        PartKind::Text(text) => Some(text),
        _ => None,
    }
}

/// The content of a message; None without parts. A single text without a cache marker becomes plain
/// text, which every engine accepts.
fn to_content(mut parts: Vec<ChatContentPart>) -> Option<ChatContent> {
    if let [ChatContentPart { kind: PartKind::Text(text), cache: None }] = parts.as_mut_slice() {
        return Some(ChatContent::Text(std::mem::take(text)));
    }
    (!parts.is_empty()).then_some(ChatContent::Parts(parts))
}

/// Texts as one text, unless one of them has a cache marker.
fn merge_texts(parts: Vec<ChatContentPart>, separator: &str) -> Option<ChatContent> {
    if parts.is_empty() || parts.iter().any(|part| part.cache.is_some()) {
        return to_content(parts);
    }
    let texts: Vec<String> = parts.into_iter().filter_map(|part| into_text(part.kind)).collect();
    Some(ChatContent::Text(texts.join(separator)))
}

/// The results of an earlier search of the service, as text.
fn describe_search(fields: &Map<String, Value>) -> String {
    let results = fields.get("content").and_then(Value::as_array).map(Vec::as_slice);
    let lines = results
        .unwrap_or_default()
        .iter()
        .filter_map(|it| Some(format!("- {} ({})\n", it["title"].as_str()?, it["url"].as_str()?)));
    format!("Results of a web search:\n{}\n", lines.collect::<String>())
}
