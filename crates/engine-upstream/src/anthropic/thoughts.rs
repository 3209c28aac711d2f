//! Converts signed thinking blocks to and from `reasoning_details`, which clients store and send
//! back.

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::blocks::Block;

/// One thinking block in the form that clients store and send back.
#[derive(Serialize, Deserialize)]
pub(super) struct Thought {
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

impl Thought {
    pub(super) fn signed(text: String, signature: String, index: u32) -> Thought {
        let data = String::new();
        Thought { r#type: TEXT.to_owned(), text, signature, data, format: FORMAT.to_owned(), index }
    }

    pub(super) fn encrypted(data: String, index: u32) -> Thought {
        Thought {
            data,
            r#type: ENCRYPTED.to_owned(),
            ..Thought::signed(String::new(), String::new(), index)
        }
    }
}

/// The array for a client; `None` if there are no thinking blocks.
pub(super) fn details(thoughts: &[Thought]) -> Option<Box<RawValue>> {
    if thoughts.is_empty() { None } else { to_raw_value(thoughts).ok() }
}

/// Converts `reasoning_details` of a client back to blocks. Unsigned entries and those of other
/// vendors are left out because the API would reject them.
pub(super) fn blocks(details: &RawValue) -> Vec<Block<'static>> {
    let values: Vec<serde_json::Value> = serde_json::from_str(details.get()).unwrap_or_default();
    values
        .into_iter()
        .filter_map(|value| serde_json::from_value(value).ok())
        .filter_map(block)
        .collect()
}

fn block(thought: Thought) -> Option<Block<'static>> {
    let Thought { r#type, text, signature, data, format, .. } = thought;
    // Clients may omit the format; an entry with another vendor's format is skipped.
    if !format.is_empty() && format != FORMAT {
        return None;
    }
    match r#type.as_str() {
        TEXT if !signature.is_empty() => Some(Block::Thinking { thinking: text, signature }),
        ENCRYPTED if !data.is_empty() => Some(Block::RedactedThinking { data }),
        _ => None,
    }
}
