//! Writes the arguments of a tool as a form with a file, for endpoints that take uploads.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::entropy::{EntropySource, request_id};
use schema_check::ValidationFaults;
use serde_json::{Map, Value};

/// A form and its content type.
pub(super) struct FormBody {
    pub(super) content_type: String,
    pub(super) bytes: Vec<u8>,
}

/// The field with the file.
const FILE_FIELD: &str = "file";

/// Decodes the file. The fault names the field.
pub(super) fn decode_file(arguments: &Map<String, Value>) -> Result<Vec<u8>, ValidationFaults> {
    let text = arguments.get(FILE_FIELD).and_then(Value::as_str).unwrap_or_default();
    let file = STANDARD.decode(text).ok().filter(|file| !file.is_empty());
    file.ok_or_else(|| ValidationFaults::one([FILE_FIELD], "Send the recording in base64."))
}

/// Builds the form. The random boundary is not in the file, except by guessing 128 bits.
pub(super) fn build_form(
    arguments: &Map<String, Value>,
    file: &[u8],
    entropy: &dyn EntropySource,
) -> FormBody {
    let boundary = format!("tollgate-{}", request_id(entropy));
    let mut bytes = Vec::with_capacity(file.len() + 1024);
    let mut add_part = |head: &str, content: &[u8]| {
        bytes.extend_from_slice(b"--");
        bytes.extend_from_slice(boundary.as_bytes());
        bytes.extend_from_slice(b"\r\ncontent-disposition: form-data; ");
        bytes.extend_from_slice(head.as_bytes());
        bytes.extend_from_slice(b"\r\n\r\n");
        bytes.extend_from_slice(content);
        bytes.extend_from_slice(b"\r\n");
    };
    for (name, value) in arguments.iter().filter(|(name, _)| *name != FILE_FIELD) {
        match value {
            Value::Null => {}
            Value::Array(items) => {
                for item in items {
                    add_part(&format!("name=\"{name}[]\""), to_text(item).as_bytes());
                }
            }
            value => add_part(&format!("name=\"{name}\""), to_text(value).as_bytes()),
        }
    }
    add_part("name=\"file\"; filename=\"file\"", file);
    bytes.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    FormBody { content_type: format!("multipart/form-data; boundary={boundary}"), bytes }
}

/// The text of a form field; what is no text keeps its JSON form, which the endpoint checks.
fn to_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
