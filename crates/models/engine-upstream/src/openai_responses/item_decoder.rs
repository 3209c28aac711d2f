//! Decodes the output items of a stream: their beginning, growth and end.

use std::collections::BTreeMap;

use engine::{ChoiceDelta, EngineError, ToolCallDelta};
use serde_json::Value;

use super::items::{
    CalledTool, MessageTexts, PART_BREAK, ResponseItemBody, ResponsePartBody, list_texts,
    readable_reasoning,
};
use super::logprobs::convert_logprobs;
use super::reasoning_details::{self, EncryptedReasoning};
use crate::transport::bad_answer;

/// More output items than any response has.
const ITEMS_MAX: usize = 4096;

#[derive(Default)]
pub(super) struct ItemDecoder {
    /// By output index. Ended items stay, so that none is counted twice.
    items: BTreeMap<u32, ItemProgress>,
    calls: u32,
    thoughts: u32,
    has_reasoning: bool,
}

/// The parts of an item that have arrived.
enum ItemProgress {
    Message { has_text: bool, has_refusal: bool },
    Reasoning { part: Option<u32> },
    Call { call: u32, has_arguments: bool },
    Ignored,
    Ended,
}

/// A fragment of an item's text.
pub(super) struct ItemFragment {
    pub(super) index: u32,
    pub(super) text: String,
}

impl ItemDecoder {
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(super) fn has_calls(&self) -> bool {
        0 < self.calls
    }

    /// Begins an item. Its text follows in fragments, except for the name of a call.
    pub(super) fn begin_item(
        &mut self,
        index: u32,
        item: ResponseItemBody,
    ) -> Result<Option<ChoiceDelta>, EngineError> {
        match item {
            ResponseItemBody::Message { .. } => {
                let progress = ItemProgress::Message { has_text: false, has_refusal: false };
                self.insert(index, progress)?;
            }
            ResponseItemBody::Reasoning { .. } => {
                self.insert(index, ItemProgress::Reasoning { part: None })?;
            }
            ResponseItemBody::FunctionCall { call_id, name, .. }
            | ResponseItemBody::CustomToolCall { call_id, name, .. } => {
                let tool = CalledTool { call_id, name, arguments: String::new() };
                return self.begin_call(index, tool).map(Some);
            }
            ResponseItemBody::Other => self.insert(index, ItemProgress::Ignored)?,
        }
        Ok(None)
    }

    /// Adds a fragment of a message's text, whose beginning may have been left out.
    pub(super) fn add_text(
        &mut self,
        fragment: ItemFragment,
        logprobs: Option<&Value>,
    ) -> Result<ChoiceDelta, EngineError> {
        if let ItemProgress::Message { has_text, .. } = self.message_at(fragment.index)? {
            *has_text = true;
        }
        let logprobs = logprobs.and_then(convert_logprobs);
        Ok(ChoiceDelta { content: fragment.text, logprobs, ..ChoiceDelta::default() })
    }

    pub(super) fn add_refusal(
        &mut self,
        fragment: ItemFragment,
    ) -> Result<ChoiceDelta, EngineError> {
        if let ItemProgress::Message { has_refusal, .. } = self.message_at(fragment.index)? {
            *has_refusal = true;
        }
        Ok(ChoiceDelta { refusal: fragment.text, ..ChoiceDelta::default() })
    }

    /// Adds a fragment of reasoning. `part` is the number of its part within the item.
    pub(super) fn add_reasoning(
        &mut self,
        fragment: ItemFragment,
        part: u32,
    ) -> Result<ChoiceDelta, EngineError> {
        if !self.items.contains_key(&fragment.index) {
            self.insert(fragment.index, ItemProgress::Reasoning { part: None })?;
        }
        let mut is_same_part = false;
        if let Some(ItemProgress::Reasoning { part: latest }) = self.items.get_mut(&fragment.index)
        {
            is_same_part = latest.replace(part) == Some(part);
        }
        let text = fragment.text;
        let reasoning = if is_same_part { text } else { self.begin_reasoning(text) };
        Ok(ChoiceDelta { reasoning, ..ChoiceDelta::default() })
    }

    /// Adds a fragment of a call's arguments or of a custom tool's input.
    pub(super) fn add_arguments(
        &mut self,
        fragment: ItemFragment,
    ) -> Result<Option<ChoiceDelta>, EngineError> {
        let ItemFragment { index, text } = fragment;
        match self.items.get_mut(&index) {
            Some(ItemProgress::Call { call, has_arguments }) => {
                *has_arguments |= !text.is_empty();
                let call = *call;
                Ok((!text.is_empty()).then(|| build_arguments(call, text)))
            }
            Some(_) => Ok(None),
            None => Err(bad_answer(format!("item {index} grows before it begins"))),
        }
    }

    /// Ends an item. Returns the parts of it that did not arrive in fragments.
    pub(super) fn end_item(
        &mut self,
        index: u32,
        item: ResponseItemBody,
    ) -> Result<Option<ChoiceDelta>, EngineError> {
        let progress = self.items.remove(&index);
        self.insert(index, ItemProgress::Ended)?;
        if matches!(progress, Some(ItemProgress::Ended)) {
            return Ok(None);
        }
        match item {
            ResponseItemBody::Message { content } => {
                Ok(end_message(progress.as_ref(), content.unwrap_or_default()))
            }
            ResponseItemBody::Reasoning { id, summary, content, encrypted_content } => {
                let (summary, content) = (list_texts(summary), list_texts(content));
                let has_text = matches!(progress, Some(ItemProgress::Reasoning { part: Some(_) }));
                let reasoning = if has_text {
                    String::new()
                } else {
                    self.begin_reasoning(readable_reasoning(&summary, &content))
                };
                let encrypted_content = encrypted_content.unwrap_or_default();
                let item = EncryptedReasoning { id, summary, encrypted_content };
                Ok(self.end_reasoning(item, reasoning))
            }
            ResponseItemBody::FunctionCall { call_id, name, arguments } => {
                let tool = CalledTool::of_function(call_id, name, arguments);
                self.end_call(progress.as_ref(), tool)
            }
            ResponseItemBody::CustomToolCall { call_id, name, input } => {
                let tool = CalledTool::of_custom_tool(call_id, name, input);
                self.end_call(progress.as_ref(), tool)
            }
            ResponseItemBody::Other => Ok(None),
        }
    }

    /// Separates a part of reasoning from the one before.
    fn begin_reasoning(&mut self, text: String) -> String {
        if text.is_empty() {
            return text;
        }
        let is_further = std::mem::replace(&mut self.has_reasoning, true);
        if is_further { format!("{PART_BREAK}{text}") } else { text }
    }

    fn end_reasoning(
        &mut self,
        item: EncryptedReasoning,
        reasoning: String,
    ) -> Option<ChoiceDelta> {
        let is_encrypted = !item.encrypted_content.is_empty();
        if !is_encrypted && reasoning.is_empty() {
            return None;
        }
        let mut delta = ChoiceDelta { reasoning, ..ChoiceDelta::default() };
        if is_encrypted {
            delta.reasoning_details = reasoning_details::encode_details(&[item], self.thoughts);
            self.thoughts += 1;
        }
        Some(delta)
    }

    fn begin_call(&mut self, index: u32, tool: CalledTool) -> Result<ChoiceDelta, EngineError> {
        let call = self.next_call()?;
        self.insert(index, ItemProgress::Call { call, has_arguments: false })?;
        Ok(build_call(call, tool))
    }

    fn end_call(
        &mut self,
        progress: Option<&ItemProgress>,
        tool: CalledTool,
    ) -> Result<Option<ChoiceDelta>, EngineError> {
        match progress {
            Some(ItemProgress::Call { has_arguments: true, .. }) => Ok(None),
            Some(ItemProgress::Call { call, .. }) => {
                let is_empty = tool.arguments.is_empty();
                Ok((!is_empty).then(|| build_arguments(*call, tool.arguments)))
            }
            _ => Ok(Some(build_call(self.next_call()?, tool))),
        }
    }

    fn next_call(&mut self) -> Result<u32, EngineError> {
        let call = self.calls;
        if usize::try_from(call).is_ok_and(|call| ITEMS_MAX <= call) {
            return Err(bad_answer(format!("it has more than {ITEMS_MAX} tool calls")));
        }
        self.calls += 1;
        Ok(call)
    }

    /// The message at an index, begun if nothing is there.
    fn message_at(&mut self, index: u32) -> Result<&mut ItemProgress, EngineError> {
        if !self.items.contains_key(&index) {
            let message = ItemProgress::Message { has_text: false, has_refusal: false };
            self.insert(index, message)?;
        }
        Ok(self.items.entry(index).or_insert(ItemProgress::Ignored))
    }

    fn insert(&mut self, index: u32, progress: ItemProgress) -> Result<(), EngineError> {
        if ITEMS_MAX <= self.items.len() && !self.items.contains_key(&index) {
            return Err(bad_answer(format!("it has more than {ITEMS_MAX} items")));
        }
        self.items.insert(index, progress);
        Ok(())
    }
}

fn end_message(
    progress: Option<&ItemProgress>,
    parts: Vec<ResponsePartBody>,
) -> Option<ChoiceDelta> {
    let (has_text, has_refusal) = match progress {
        Some(ItemProgress::Message { has_text, has_refusal }) => (*has_text, *has_refusal),
        _ => (false, false),
    };
    let mut texts = MessageTexts::default();
    texts.add_parts(parts);
    let mut delta = ChoiceDelta::default();
    if !has_text {
        delta.content = texts.content;
        delta.logprobs = convert_logprobs(&Value::Array(texts.logprobs));
    }
    if !has_refusal {
        delta.refusal = texts.refusal;
    }
    let is_new = !delta.content.is_empty() || !delta.refusal.is_empty();
    is_new.then_some(delta)
}

fn build_call(call: u32, tool: CalledTool) -> ChoiceDelta {
    let piece = ToolCallDelta {
        index: call,
        id: Some(tool.call_id),
        name: tool.name,
        arguments: tool.arguments,
        ..ToolCallDelta::default()
    };
    ChoiceDelta { tool_calls: vec![piece], ..ChoiceDelta::default() }
}

fn build_arguments(call: u32, arguments: String) -> ChoiceDelta {
    let piece = ToolCallDelta { index: call, arguments, ..ToolCallDelta::default() };
    ChoiceDelta { tool_calls: vec![piece], ..ChoiceDelta::default() }
}
