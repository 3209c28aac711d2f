//! Converts signed thinking blocks to and from `reasoning_details`, which clients store and send
//! back.

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::blocks::ContentBlock;

/// One thinking block in the form that clients store and send back.
#[derive(Serialize, Deserialize)]
pub(super) struct ReasoningEntry {
    r#type: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    text: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    signature: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    data: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    format: String,
    #[serde(default)]
    index: u32,
}

const TEXT: &str = "reasoning.text";
const ENCRYPTED: &str = "reasoning.encrypted";
const FORMAT: &str = "anthropic-claude-v1";

impl ReasoningEntry {
    pub(super) fn with_signature(text: String, signature: String, index: u32) -> ReasoningEntry {
        let data = String::new();
        ReasoningEntry {
            r#type: TEXT.to_owned(),
            text,
            signature,
            data,
            format: FORMAT.to_owned(),
            index,
        }
    }

    pub(super) fn with_encrypted_data(data: String, index: u32) -> ReasoningEntry {
        ReasoningEntry {
            data,
            r#type: ENCRYPTED.to_owned(),
            ..ReasoningEntry::with_signature(String::new(), String::new(), index)
        }
    }
}

/// The array for a client; `None` if there are no thinking blocks.
pub(super) fn encode_details(thoughts: &[ReasoningEntry]) -> Option<Box<RawValue>> {
    if thoughts.is_empty() { None } else { to_raw_value(thoughts).ok() }
}

/// Converts `reasoning_details` of a client back to blocks. Unsigned entries and those of other
/// vendors are left out because the API would reject them.
pub(super) fn decode_blocks(details: &RawValue) -> Vec<ContentBlock<'static>> {
    let values: Vec<serde_json::Value> = serde_json::from_str(details.get()).unwrap_or_default();
    values
        .into_iter()
        .filter_map(|value| serde_json::from_value(value).ok())
        .filter_map(decode_block)
        .collect()
}

fn decode_block(thought: ReasoningEntry) -> Option<ContentBlock<'static>> {
    let ReasoningEntry { r#type, text, signature, data, format, .. } = thought;
    // Clients may omit the format; an entry with another vendor's format is skipped.
    if !format.is_empty() && format != FORMAT {
        return None;
    }
    match r#type.as_str() {
        TEXT if !signature.is_empty() => Some(ContentBlock::Thinking { thinking: text, signature }),
        ENCRYPTED if !data.is_empty() => Some(ContentBlock::RedactedThinking { data }),
        _ => None,
    }
}
