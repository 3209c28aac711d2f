//! Builds the delta for one event; `None` for empty text.

use engine::{ChoiceDelta, ToolCallDelta};

use super::reasoning_details::{self, ReasoningEntry};

pub(super) fn build_content_delta(text: String) -> Option<ChoiceDelta> {
    if text.is_empty() {
        None
    } else {
        Some(ChoiceDelta { content: text, ..ChoiceDelta::default() })
    }
}

pub(super) fn build_reasoning_delta(text: String) -> Option<ChoiceDelta> {
    if text.is_empty() {
        None
    } else {
        Some(ChoiceDelta { reasoning: text, ..ChoiceDelta::default() })
    }
}

pub(super) fn build_thought_delta(thought: ReasoningEntry) -> Option<ChoiceDelta> {
    let reasoning_details = reasoning_details::encode_details(&[thought]);
    Some(ChoiceDelta { reasoning_details, ..ChoiceDelta::default() })
}

pub(super) fn build_call_delta(call: u32, id: String, name: String) -> Option<ChoiceDelta> {
    let piece = ToolCallDelta { index: call, id: Some(id), name, ..ToolCallDelta::default() };
    Some(ChoiceDelta { tool_calls: vec![piece], ..ChoiceDelta::default() })
}

pub(super) fn build_arguments_delta(call: u32, arguments: String) -> Option<ChoiceDelta> {
    if arguments.is_empty() {
        return None;
    }
    let piece = ToolCallDelta { index: call, arguments, ..ToolCallDelta::default() };
    Some(ChoiceDelta { tool_calls: vec![piece], ..ChoiceDelta::default() })
}
