//! Checks the envelope of a line. Its body is checked when the line runs.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::faults::BatchFault;

const CUSTOM_ID_CHARS_MAX: usize = 512;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LineEnvelope<'a> {
    #[serde(default)]
    custom_id: Value,
    #[serde(default)]
    method: Value,
    #[serde(default)]
    url: Value,
    #[serde(borrow, default)]
    body: Option<&'a RawValue>,
}

/// A valid line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BatchCall<'a> {
    pub(crate) custom_id: String,
    /// The JSON of the body.
    pub(crate) body: &'a str,
}

/// The call of a line, or all faults of its envelope.
pub(crate) fn parse_line<'a>(
    number: u32,
    bytes: &'a [u8],
    endpoint: &str,
) -> Result<BatchCall<'a>, Vec<BatchFault>> {
    let refuse = |cause: &dyn std::fmt::Display| {
        let message = format!("The line is not a request: {cause}");
        vec![BatchFault::of_line(number, "invalid_json_line", None, message)]
    };
    // A list of values in the order of the fields would be read as an object.
    if !bytes.starts_with(b"{") {
        return Err(refuse(&"it must be a JSON object"));
    }
    let envelope: LineEnvelope<'a> =
        serde_json::from_slice(bytes).map_err(|error| refuse(&error))?;
    let mut faults = Vec::new();
    let mut add = |code, param, message: String| {
        faults.push(BatchFault::of_line(number, code, Some(param), message));
    };
    let custom_id = match &envelope.custom_id {
        Value::String(id) if id.is_empty() => {
            add("missing_required_parameter", "custom_id", "`custom_id` is empty.".to_owned());
            None
        }
        Value::String(id) if CUSTOM_ID_CHARS_MAX < id.chars().count() => {
            let message = format!("`custom_id` has more than {CUSTOM_ID_CHARS_MAX} characters.");
            add("invalid_custom_id", "custom_id", message);
            None
        }
        Value::String(id) => Some(id.clone()),
        Value::Null => {
            add("missing_required_parameter", "custom_id", "`custom_id` is missing.".to_owned());
            None
        }
        _ => {
            add("invalid_custom_id", "custom_id", "`custom_id` must be a text.".to_owned());
            None
        }
    };
    if envelope.method != "POST" {
        add("invalid_method", "method", "`method` must be \"POST\".".to_owned());
    }
    if envelope.url != endpoint {
        let message = format!("`url` must be the batch's endpoint, \"{endpoint}\".");
        add("mismatched_url", "url", message);
    }
    let body = envelope.body.map(RawValue::get).filter(|body| *body != "null");
    if body.is_none() {
        add("missing_required_parameter", "body", "`body` is missing.".to_owned());
    }
    match (custom_id, body) {
        (Some(custom_id), Some(body)) if faults.is_empty() => Ok(BatchCall { custom_id, body }),
        _ => Err(faults),
    }
}
