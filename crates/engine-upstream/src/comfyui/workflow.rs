//! A workflow in ComfyUI's API format with slots such as `{{prompt}}`, which the operator wrote
//! where values go. A string that consists only of a slot becomes the value itself, for example a
//! number; within a longer string the value is inserted as text. `{{cfg_scale|7}}` has a default, a
//! JSON value, for requests without one.

use std::fmt;

use engine::EngineError;
use serde_json::Value;

/// The values that can be filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
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

impl Slot {
    pub const ALL: [Slot; 21] = [
        Slot::Prompt,
        Slot::NegativePrompt,
        Slot::Seed,
        Slot::Width,
        Slot::Height,
        Slot::Steps,
        Slot::CfgScale,
        Slot::LoraStrength,
        Slot::Image,
        Slot::Image2,
        Slot::Image3,
        Slot::Mask,
        Slot::Scale,
        Slot::Creativity,
        Slot::DurationSeconds,
        Slot::Frames16,
        Slot::Frames24,
        Slot::EndImage,
        Slot::Lyrics,
        Slot::StyleImage,
        Slot::StyleStrength,
    ];
    /// Values that a caller sends deliberately: without a slot they would be ignored silently, so
    /// the request is rejected.
    const SENT_ON_PURPOSE: [Slot; 7] = [
        Slot::Image,
        Slot::Image2,
        Slot::Image3,
        Slot::Mask,
        Slot::EndImage,
        Slot::Lyrics,
        Slot::StyleImage,
    ];
    pub(super) const IMAGES: [Slot; 3] = [Slot::Image, Slot::Image2, Slot::Image3];

    pub const fn name(self) -> &'static str {
        match self {
            Slot::Prompt => "prompt",
            Slot::NegativePrompt => "negative_prompt",
            Slot::Seed => "seed",
            Slot::Width => "width",
            Slot::Height => "height",
            Slot::Steps => "steps",
            Slot::CfgScale => "cfg_scale",
            Slot::LoraStrength => "lora_strength",
            Slot::Image => "image",
            Slot::Image2 => "image_2",
            Slot::Image3 => "image_3",
            Slot::Mask => "mask",
            Slot::Scale => "scale",
            Slot::Creativity => "creativity",
            Slot::DurationSeconds => "duration_seconds",
            Slot::Frames16 => "frames_16fps",
            Slot::Frames24 => "frames_24fps",
            Slot::EndImage => "end_image",
            Slot::Lyrics => "lyrics",
            Slot::StyleImage => "style_image",
            Slot::StyleStrength => "style_strength",
        }
    }

    fn named(name: &str) -> Option<Slot> {
        Slot::ALL.into_iter().find(|slot| slot.name() == name)
    }
}

/// A slot between double braces, with its default value.
#[derive(Debug, Clone, PartialEq)]
struct SlotUse {
    slot: Slot,
    default: Option<Value>,
}

impl SlotUse {
    fn parse(inner: &str) -> Result<SlotUse, WorkflowFault> {
        let (name, default) = match inner.split_once('|') {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        let slot = Slot::named(name.trim()).ok_or_else(|| {
            let known = Slot::ALL.map(Slot::name).join(", ");
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
pub struct Workflow {
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

impl Workflow {
    pub fn parse(text: &str) -> Result<Workflow, WorkflowFault> {
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
        Ok(Workflow { graph, slots })
    }

    pub fn has(&self, slot: Slot) -> bool {
        self.slots.iter().any(|it| it.slot == slot)
    }

    /// True if the slot has a default in every place where it occurs.
    pub fn has_default(&self, slot: Slot) -> bool {
        self.has(slot) && self.required_slots().all(|it| it != slot)
    }

    /// The slots without a default, which need a value in every request.
    pub fn required_slots(&self) -> impl Iterator<Item = Slot> {
        self.slots.iter().filter(|it| it.default.is_none()).map(|it| it.slot)
    }

    /// Returns the workflow with the values inserted. Fails if a required slot has no value, or if
    /// a deliberately sent value has no slot. `field` maps a slot to the public field name.
    pub fn filled(
        &self,
        values: &[(Slot, Value)],
        field: fn(Slot) -> &'static str,
    ) -> Result<Value, EngineError> {
        let is_missing = |slot: &Slot| values.iter().all(|(it, _)| it != slot);
        if let Some(slot) = self.required_slots().find(is_missing) {
            return Err(EngineError::FieldMissing { field: field(slot) });
        }
        let mut sent = values.iter().map(|(slot, _)| *slot);
        let left_out = |slot: &Slot| Slot::SENT_ON_PURPOSE.contains(slot) && !self.has(*slot);
        if let Some(slot) = sent.find(left_out) {
            let message = format!("This model takes no `{}`.", field(slot));
            return Err(EngineError::Rejected { message });
        }
        let mut graph = self.graph.clone();
        fill(&mut graph, values);
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

fn fill(value: &mut Value, values: &[(Slot, Value)]) {
    match value {
        Value::String(text) => {
            if let Some(filled) = filled_text(text, values) {
                *value = filled;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, values)),
        Value::Object(fields) => fields.values_mut().for_each(|field| fill(field, values)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Inserted values are not scanned again, so a prompt cannot contain slots.
fn filled_text(text: &str, values: &[(Slot, Value)]) -> Option<Value> {
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
        let workflow = Workflow::parse(GRAPH).unwrap();
        let values = [
            (Slot::Seed, json!(7)),
            (Slot::CfgScale, json!(2.5)),
            (Slot::Prompt, json!("a {{seed}} \"fox\"")),
            (Slot::Width, json!(512)),
        ];
        let filled = workflow.filled(&values, Slot::name).unwrap();
        assert_eq!(filled["3"]["inputs"], json!({"seed": 7, "cfg": 2.5}));
        assert_eq!(filled["6"]["inputs"]["text"], "best, a {{seed}} \"fox\", 512 px");
    }

    #[test]
    fn what_is_missing_or_would_be_left_out_is_said() {
        let workflow = Workflow::parse(GRAPH).unwrap();
        let told = |values: &[(Slot, Value)]| format!("{:?}", workflow.filled(values, Slot::name));
        assert!(told(&[(Slot::Prompt, json!("x"))]).contains("FieldMissing { field: \"seed\" }"));
        let all = [Slot::Seed, Slot::CfgScale, Slot::Prompt, Slot::Width, Slot::Image];
        let all: Vec<(Slot, Value)> = all.into_iter().map(|slot| (slot, json!(1))).collect();
        assert!(told(&all).contains("takes no `image`"));
    }

    #[test]
    fn a_default_stands_in_for_what_was_not_sent() {
        let graph = r#"{"1": {"class_type": "A", "inputs": {
            "cfg": "{{cfg_scale|7.5}}", "steps": "{{ steps | 20 }}", "text": "{{prompt}}",
            "not": "ugly, {{negative_prompt|\"blurry\"}}", "on": "{{scale|true}}"}}}"#;
        let workflow = Workflow::parse(graph).unwrap();
        assert!(workflow.has(Slot::Steps) && workflow.has_default(Slot::Steps));
        assert!(!workflow.has_default(Slot::Prompt) && !workflow.has_default(Slot::Seed));
        let filled = |values: &[(Slot, Value)]| {
            workflow.filled(values, Slot::name).unwrap()["1"]["inputs"].clone()
        };
        let prompt = (Slot::Prompt, json!("a fox"));
        let expected = json!({"cfg": 7.5, "steps": 20, "text": "a fox", "not": "ugly, blurry",
            "on": true});
        assert_eq!(filled(std::slice::from_ref(&prompt)), expected);
        let expected = json!({"cfg": 7.5, "steps": 4, "text": "a fox", "not": "ugly, dark",
            "on": true});
        let values = [prompt, (Slot::Steps, json!(4)), (Slot::NegativePrompt, json!("dark"))];
        assert_eq!(filled(&values), expected);
    }

    #[test]
    fn a_slot_that_stands_once_with_and_once_without_a_default_is_needed() {
        let graph =
            r#"{"1": {"class_type": "A", "inputs": {"a": "{{steps|1}}", "b": "{{steps}}"}}}"#;
        let workflow = Workflow::parse(graph).unwrap();
        assert!(!workflow.has_default(Slot::Steps));
        let expected = EngineError::FieldMissing { field: "steps" };
        assert_eq!(workflow.filled(&[], Slot::name), Err(expected));
    }

    #[test]
    fn a_file_that_is_no_workflow_is_told_at_the_start() {
        let told = |text: &str| Workflow::parse(text).unwrap_err().to_string();
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
