//! Reads fields of open objects, and reports faults in the protocol's words.

use engine::CacheControl;
use schema_check::{PathStep, ValidationFaults};
use serde_json::{Map, Value};

pub(super) const REQUIRED: &str = "Field required";
const NOT_TEXT: &str = "Input should be a valid string";

/// The place of a value in the request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FieldPath(Vec<PathStep>);

impl FieldPath {
    pub(super) fn top(name: &'static str) -> FieldPath {
        FieldPath(vec![PathStep::from(name)])
    }

    pub(super) fn join(&self, step: impl Into<PathStep>) -> FieldPath {
        let mut path = self.0.clone();
        path.push(step.into());
        FieldPath(path)
    }

    pub(super) fn push_fault(&self, faults: &mut ValidationFaults, message: impl Into<String>) {
        faults.at(self.0.iter().cloned()).push(message.into());
    }
}

/// Takes a required text out of an object.
pub(super) fn take_text(
    fields: &mut Map<String, Value>,
    name: &str,
    path: &FieldPath,
    faults: &mut ValidationFaults,
) -> Option<String> {
    match fields.get_mut(name).map(Value::take) {
        Some(Value::String(text)) => return Some(text),
        None | Some(Value::Null) => path.join(name).push_fault(faults, REQUIRED),
        Some(_) => path.join(name).push_fault(faults, NOT_TEXT),
    }
    None
}

/// A text, if the field has one.
pub(super) fn read_text<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    fields.get(name).and_then(Value::as_str)
}

/// The cache marker of a block.
pub(super) fn read_cache_control(fields: &Map<String, Value>) -> Option<CacheControl> {
    let control = fields.get("cache_control")?.as_object()?;
    Some(match read_text(control, "ttl") {
        Some("1h") => CacheControl::OneHour,
        _ => CacheControl::FiveMinutes,
    })
}

/// The fault of an unknown type, in the words that clients understand.
pub(super) fn describe_unknown_tag(tag: &str, expected: &[&str]) -> String {
    let expected: Vec<String> = expected.iter().map(|tag| format!("'{tag}'")).collect();
    format!(
        "Input tag '{tag}' found using 'type' does not match any of the expected tags: {}",
        expected.join(", ")
    )
}
