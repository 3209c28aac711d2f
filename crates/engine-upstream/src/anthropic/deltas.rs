//! Builds the delta for one event; `None` for empty text.

use engine::{ChoiceDelta, ToolCallDelta};

use super::thoughts::{self, Thought};

pub(super) fn content(text: String) -> Option<ChoiceDelta> {
    if text.is_empty() {
        None
    } else {
        Some(ChoiceDelta { content: text, ..ChoiceDelta::default() })
    }
}

pub(super) fn reasoning(text: String) -> Option<ChoiceDelta> {
    if text.is_empty() {
        None
    } else {
        Some(ChoiceDelta { reasoning: text, ..ChoiceDelta::default() })
    }
}

pub(super) fn thoughts_of(thought: Thought) -> Option<ChoiceDelta> {
    let reasoning_details = thoughts::details(&[thought]);
    Some(ChoiceDelta { reasoning_details, ..ChoiceDelta::default() })
}

pub(super) fn called(call: u32, id: String, name: String) -> Option<ChoiceDelta> {
    let piece = ToolCallDelta { index: call, id: Some(id), name, ..ToolCallDelta::default() };
    Some(ChoiceDelta { tool_calls: vec![piece], ..ChoiceDelta::default() })
}

pub(super) fn arguments(call: u32, arguments: String) -> Option<ChoiceDelta> {
    if arguments.is_empty() {
        return None;
    }
    let piece = ToolCallDelta { index: call, arguments, ..ToolCallDelta::default() };
    Some(ChoiceDelta { tool_calls: vec![piece], ..ChoiceDelta::default() })
}
