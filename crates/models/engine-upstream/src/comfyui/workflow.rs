//! A workflow in ComfyUI's API format with slots such as `{{prompt}}`, which the operator wrote
//! where values go. A string that consists only of a slot becomes the value itself, for example a
//! number; within a longer string the value is inserted as text. `{{cfg_scale|7}}` has a default, a
//! JSON value, for requests without one.

use std::fmt;

use engine::EngineError;
use serde_json::Value;

/// The values that can be filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkflowSlot {
    Prompt,
    NegativePrompt,
    Seed,
    Width,
    Height,
    Steps,
    CfgScale,
    LoraStrength,
    Image,
    Image2,
    Image3,
    Mask,
    Scale,
    Creativity,
    DurationSeconds,
    /// Number of frames at 16 frames per second.
    Frames16,
    /// Number of frames at 24 frames per second.
    Frames24,
    EndImage,
    Lyrics,
    StyleImage,
    StyleStrength,
}

impl WorkflowSlot {
    pub const ALL: [WorkflowSlot; 21] = [
        WorkflowSlot::Prompt,
        WorkflowSlot::NegativePrompt,
        WorkflowSlot::Seed,
        WorkflowSlot::Width,
        WorkflowSlot::Height,
        WorkflowSlot::Steps,
        WorkflowSlot::CfgScale,
        WorkflowSlot::LoraStrength,
        WorkflowSlot::Image,
        WorkflowSlot::Image2,
        WorkflowSlot::Image3,
        WorkflowSlot::Mask,
        WorkflowSlot::Scale,
        WorkflowSlot::Creativity,
        WorkflowSlot::DurationSeconds,
        WorkflowSlot::Frames16,
        WorkflowSlot::Frames24,
        WorkflowSlot::EndImage,
        WorkflowSlot::Lyrics,
        WorkflowSlot::StyleImage,
        WorkflowSlot::StyleStrength,
    ];
    /// Values that a caller sends deliberately: without a slot they would be ignored silently, so
    /// the request is rejected.
    const SENT_ON_PURPOSE: [WorkflowSlot; 7] = [
        WorkflowSlot::Image,
        WorkflowSlot::Image2,
        WorkflowSlot::Image3,
        WorkflowSlot::Mask,
        WorkflowSlot::EndImage,
        WorkflowSlot::Lyrics,
        WorkflowSlot::StyleImage,
    ];
    pub(super) const IMAGES: [WorkflowSlot; 3] =
        [WorkflowSlot::Image, WorkflowSlot::Image2, WorkflowSlot::Image3];

    pub const fn name(self) -> &'static str {
        match self {
            WorkflowSlot::Prompt => "prompt",
            WorkflowSlot::NegativePrompt => "negative_prompt",
            WorkflowSlot::Seed => "seed",
            WorkflowSlot::Width => "width",
            WorkflowSlot::Height => "height",
            WorkflowSlot::Steps => "steps",
            WorkflowSlot::CfgScale => "cfg_scale",
            WorkflowSlot::LoraStrength => "lora_strength",
            WorkflowSlot::Image => "image",
            WorkflowSlot::Image2 => "image_2",
            WorkflowSlot::Image3 => "image_3",
            WorkflowSlot::Mask => "mask",
            WorkflowSlot::Scale => "scale",
            WorkflowSlot::Creativity => "creativity",
            WorkflowSlot::DurationSeconds => "duration_seconds",
            WorkflowSlot::Frames16 => "frames_16fps",
            WorkflowSlot::Frames24 => "frames_24fps",
            WorkflowSlot::EndImage => "end_image",
            WorkflowSlot::Lyrics => "lyrics",
            WorkflowSlot::StyleImage => "style_image",
            WorkflowSlot::StyleStrength => "style_strength",
        }
    }

    fn from_name(name: &str) -> Option<WorkflowSlot> {
        WorkflowSlot::ALL.into_iter().find(|slot| slot.name() == name)
    }
}

/// A slot between double braces, with its default value.
#[derive(Debug, Clone, PartialEq)]
struct SlotUse {
    slot: WorkflowSlot,
    default: Option<Value>,
}

impl SlotUse {
    fn parse(inner: &str) -> Result<SlotUse, WorkflowFault> {
        let (name, default) = match inner.split_once('|') {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        let slot = WorkflowSlot::from_name(name.trim()).ok_or_else(|| {
            let known = WorkflowSlot::ALL.map(WorkflowSlot::name).join(", ");
            WorkflowFault(format!("it has the slot {{{{{inner}}}}}; there are {known}"))
        })?;
        let default = default.map(|text| serde_json::from_str(text.trim())).transpose();
        let default = default.map_err(|_| {
            let message = format!(
                "the default of the slot {{{{{inner}}}}} is no JSON value; write numbers as 7 and \
                 texts as \\\"blurry\\\""
            );
            WorkflowFault(message)
        })?;
        Ok(SlotUse { slot, default })
    }
}

/// A parsed workflow and its slots.
#[derive(Debug, Clone, PartialEq)]
pub struct ComfyWorkflow {
    graph: Value,
    slots: Vec<SlotUse>,
}

/// The reason why a file is not a valid workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowFault(String);

impl fmt::Display for WorkflowFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WorkflowFault {}

const OPEN: &str = "{{";
const CLOSE: &str = "}}";

impl ComfyWorkflow {
    pub fn parse(text: &str) -> Result<ComfyWorkflow, WorkflowFault> {
        let graph: Value = serde_json::from_str(text)
            .map_err(|error| WorkflowFault(format!("it is not JSON: {error}")))?;
        let nodes = graph.as_object().filter(|nodes| !nodes.is_empty());
        let is_graph =
            nodes.is_some_and(|it| it.values().all(|node| node["class_type"].is_string()));
        if !is_graph {
            let message = "it is no workflow in API format, in which every node has a \
                           `class_type`; export it with \"Export (API)\"";
            return Err(WorkflowFault(message.to_owned()));
        }
        let mut slots = Vec::new();
        find_slots(&graph, &mut slots)?;
        if slots.is_empty() {
            let message = "it has no slot, such as \"{{prompt}}\" where the text goes";
            return Err(WorkflowFault(message.to_owned()));
        }
        Ok(ComfyWorkflow { graph, slots })
    }

    pub fn has_slot(&self, slot: WorkflowSlot) -> bool {
        self.slots.iter().any(|it| it.slot == slot)
    }

    /// True if the slot has a default in every place where it occurs.
    pub fn has_default(&self, slot: WorkflowSlot) -> bool {
        self.has_slot(slot) && self.required_slots().all(|it| it != slot)
    }

    /// The slots without a default, which need a value in every request.
    pub fn required_slots(&self) -> impl Iterator<Item = WorkflowSlot> {
        self.slots.iter().filter(|it| it.default.is_none()).map(|it| it.slot)
    }

    /// Returns the workflow with the values inserted. Fails if a required slot has no value, or if
    /// a deliberately sent value has no slot. `field` maps a slot to the public field name.
    pub fn fill_slots(
        &self,
        values: &[(WorkflowSlot, Value)],
        field: fn(WorkflowSlot) -> &'static str,
    ) -> Result<Value, EngineError> {
        let is_missing = |slot: &WorkflowSlot| values.iter().all(|(it, _)| it != slot);
        if let Some(slot) = self.required_slots().find(is_missing) {
            return Err(EngineError::FieldMissing { field: field(slot) });
        }
        let mut sent = values.iter().map(|(slot, _)| *slot);
        let left_out = |slot: &WorkflowSlot| {
            WorkflowSlot::SENT_ON_PURPOSE.contains(slot) && !self.has_slot(*slot)
        };
        if let Some(slot) = sent.find(left_out) {
            let message = format!("This model takes no `{}`.", field(slot));
            return Err(EngineError::Rejected { message });
        }
        let mut graph = self.graph.clone();
        fill_value(&mut graph, values);
        Ok(graph)
    }
}

fn find_slots(value: &Value, slots: &mut Vec<SlotUse>) -> Result<(), WorkflowFault> {
    match value {
        Value::String(text) => {
            for inner in inner_texts(text) {
                let found = SlotUse::parse(inner)?;
                if !slots.contains(&found) {
                    slots.push(found);
                }
            }
            Ok(())
        }
        Value::Array(items) => items.iter().try_for_each(|item| find_slots(item, slots)),
        Value::Object(fields) => fields.values().try_for_each(|field| find_slots(field, slots)),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// The texts between double braces.
fn inner_texts(text: &str) -> impl Iterator<Item = &str> {
    text.split(OPEN).skip(1).filter_map(|rest| rest.split_once(CLOSE)).map(|(inner, _)| inner)
}

fn fill_value(value: &mut Value, values: &[(WorkflowSlot, Value)]) {
    match value {
        Value::String(text) => {
            if let Some(filled) = filled_text(text, values) {
                *value = filled;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| fill_value(item, values)),
        Value::Object(fields) => fields.values_mut().for_each(|field| fill_value(field, values)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Inserted values are not scanned again, so a prompt cannot contain slots.
fn filled_text(text: &str, values: &[(WorkflowSlot, Value)]) -> Option<Value> {
    let value = |inner: &str| {
        let found = SlotUse::parse(inner).ok()?;
        let sent = values.iter().find(|(it, _)| *it == found.slot);
        sent.map(|(_, value)| value.clone()).or(found.default)
    };
    let whole = text.trim().strip_prefix(OPEN).and_then(|it| it.strip_suffix(CLOSE));
    let whole = whole.filter(|inner| !inner.contains(OPEN));
    if let Some(value) = whole.and_then(value) {
        return Some(value);
    }
    if !text.contains(OPEN) {
        return None;
    }
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPEN) {
        filled.push_str(before);
        let Some((name, behind)) = after.split_once(CLOSE) else {
            rest = &rest[before.len()..];
            break;
        };
        match value(name) {
            Some(Value::String(text)) => filled.push_str(&text),
            Some(other) => filled.push_str(&other.to_string()),
            None => {}
        }
        rest = behind;
    }
    filled.push_str(rest);
    Some(filled.into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const GRAPH: &str = r#"{
        "3": {"class_type": "KSampler", "inputs": {"seed": "{{seed}}", "cfg": "{{ cfg_scale }}"}},
        "6": {"class_type": "CLIPTextEncode", "inputs": {"text": "best, {{prompt}}, {{width}} px"}}
    }"#;

    #[test]
    fn slots_become_values_and_texts() {
        let workflow = ComfyWorkflow::parse(GRAPH).unwrap();
        let values = [
            (WorkflowSlot::Seed, json!(7)),
            (WorkflowSlot::CfgScale, json!(2.5)),
            (WorkflowSlot::Prompt, json!("a {{seed}} \"fox\"")),
            (WorkflowSlot::Width, json!(512)),
        ];
        let filled = workflow.fill_slots(&values, WorkflowSlot::name).unwrap();
        assert_eq!(filled["3"]["inputs"], json!({"seed": 7, "cfg": 2.5}));
        assert_eq!(filled["6"]["inputs"]["text"], "best, a {{seed}} \"fox\", 512 px");
    }

    #[test]
    fn what_is_missing_or_would_be_left_out_is_said() {
        let workflow = ComfyWorkflow::parse(GRAPH).unwrap();
        let told = |values: &[(WorkflowSlot, Value)]| {
            format!("{:?}", workflow.fill_slots(values, WorkflowSlot::name))
        };
        assert!(
            told(&[(WorkflowSlot::Prompt, json!("x"))])
                .contains("FieldMissing { field: \"seed\" }")
        );
        let all = [
            WorkflowSlot::Seed,
            WorkflowSlot::CfgScale,
            WorkflowSlot::Prompt,
            WorkflowSlot::Width,
            WorkflowSlot::Image,
        ];
        let all: Vec<(WorkflowSlot, Value)> =
            all.into_iter().map(|slot| (slot, json!(1))).collect();
        assert!(told(&all).contains("takes no `image`"));
    }

    #[test]
    fn a_default_stands_in_for_what_was_not_sent() {
        let graph = r#"{"1": {"class_type": "A", "inputs": {
            "cfg": "{{cfg_scale|7.5}}", "steps": "{{ steps | 20 }}", "text": "{{prompt}}",
            "not": "ugly, {{negative_prompt|\"blurry\"}}", "on": "{{scale|true}}"}}}"#;
        let workflow = ComfyWorkflow::parse(graph).unwrap();
        assert!(
            workflow.has_slot(WorkflowSlot::Steps) && workflow.has_default(WorkflowSlot::Steps)
        );
        assert!(
            !workflow.has_default(WorkflowSlot::Prompt)
                && !workflow.has_default(WorkflowSlot::Seed)
        );
        let filled = |values: &[(WorkflowSlot, Value)]| {
            workflow.fill_slots(values, WorkflowSlot::name).unwrap()["1"]["inputs"].clone()
        };
        let prompt = (WorkflowSlot::Prompt, json!("a fox"));
        let expected = json!({"cfg": 7.5, "steps": 20, "text": "a fox", "not": "ugly, blurry",
            "on": true});
        assert_eq!(filled(std::slice::from_ref(&prompt)), expected);
        let expected = json!({"cfg": 7.5, "steps": 4, "text": "a fox", "not": "ugly, dark",
            "on": true});
        let values = [
            prompt,
            (WorkflowSlot::Steps, json!(4)),
            (WorkflowSlot::NegativePrompt, json!("dark")),
        ];
        assert_eq!(filled(&values), expected);
    }

    #[test]
    fn a_slot_that_stands_once_with_and_once_without_a_default_is_needed() {
        let graph =
            r#"{"1": {"class_type": "A", "inputs": {"a": "{{steps|1}}", "b": "{{steps}}"}}}"#;
        let workflow = ComfyWorkflow::parse(graph).unwrap();
        assert!(!workflow.has_default(WorkflowSlot::Steps));
        let expected = EngineError::FieldMissing { field: "steps" };
        assert_eq!(workflow.fill_slots(&[], WorkflowSlot::name), Err(expected));
    }

    #[test]
    fn a_file_that_is_no_workflow_is_told_at_the_start() {
        let told = |text: &str| ComfyWorkflow::parse(text).unwrap_err().to_string();
        assert!(told("{").starts_with("it is not JSON"));
        assert!(told("[]").contains("Export (API)"));
        assert!(told(r#"{"nodes": [], "links": []}"#).contains("Export (API)"));
        assert!(told(r#"{"1": {"class_type": "A"}}"#).contains("no slot"));
        let unknown = told(r#"{"1": {"class_type": "A", "inputs": {"a": "{{promt}}"}}}"#);
        assert!(unknown.contains("{{promt}}; there are prompt, "), "{unknown}");
        let bare = told(r#"{"1": {"class_type": "A", "inputs": {"a": "{{steps|many}}"}}}"#);
        assert!(bare.contains("{{steps|many}} is no JSON value"), "{bare}");
    }
}
