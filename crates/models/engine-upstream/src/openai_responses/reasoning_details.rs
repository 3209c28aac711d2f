//! Converts reasoning items to and from `reasoning_details`, which clients store and send back.
//!
//! An item is one encrypted entry, preceded by an entry for each part of its summary. Entries of
//! one item have the same index.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// The format of our entries. Entries of other formats are encrypted for other providers.
const FORMAT: &str = "openai-responses-v1";
const SUMMARY: &str = "reasoning.summary";
const ENCRYPTED: &str = "reasoning.encrypted";

/// The part of a reasoning item that a client sends back.
pub(super) struct EncryptedReasoning {
    pub(super) id: Option<String>,
    pub(super) summary: Vec<String>,
    pub(super) encrypted_content: String,
}

#[derive(Serialize, Deserialize)]
struct ReasoningItemEntry {
    r#type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(default)]
    format: String,
    #[serde(default)]
    index: u32,
}

/// The array for a client; `None` if there is no item.
pub(super) fn encode_details(
    items: &[EncryptedReasoning],
    first_index: u32,
) -> Option<Box<RawValue>> {
    let mut entries = Vec::new();
    for (item, index) in items.iter().zip(first_index..) {
        let entry = |kind: &str| ReasoningItemEntry {
            r#type: kind.to_owned(),
            summary: None,
            data: None,
            id: item.id.clone(),
            format: FORMAT.to_owned(),
            index,
        };
        let summaries = item.summary.iter();
        entries.extend(
            summaries
                .map(|text| ReasoningItemEntry { summary: Some(text.clone()), ..entry(SUMMARY) }),
        );
        let data = Some(item.encrypted_content.clone());
        entries.push(ReasoningItemEntry { data, ..entry(ENCRYPTED) });
    }
    if entries.is_empty() { None } else { to_raw_value(&entries).ok() }
}

/// Converts `reasoning_details` of a client back to items. Entries of other formats are left out,
/// because the API rejects what it did not encrypt itself.
pub(super) fn decode_items(details: &RawValue) -> Vec<EncryptedReasoning> {
    let values: Vec<Value> = serde_json::from_str(details.get()).unwrap_or_default();
    let entries = values
        .into_iter()
        .filter_map(|value| serde_json::from_value::<ReasoningItemEntry>(value).ok())
        .filter(|entry| entry.format == FORMAT);
    let mut items = Vec::new();
    let mut summary = Vec::new();
    let mut summary_index = None;
    for entry in entries {
        if summary_index != Some(entry.index) {
            summary.clear();
            summary_index = Some(entry.index);
        }
        match (entry.r#type.as_str(), entry.summary, entry.data) {
            (SUMMARY, Some(text), _) => summary.push(text),
            (ENCRYPTED, _, Some(encrypted_content)) if !encrypted_content.is_empty() => {
                let summary = std::mem::take(&mut summary);
                items.push(EncryptedReasoning { id: entry.id, summary, encrypted_content });
            }
            _ => {}
        }
    }
    items
}
