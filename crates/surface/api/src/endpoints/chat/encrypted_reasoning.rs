//! Encrypted reasoning: a placeholder tells clients that show reasoning that there is some.

use std::collections::BTreeSet;

use engine::ChatChunk;
use serde::Deserialize;
use serde_json::value::RawValue;

const PLACEHOLDER: &str = "[Some reasoning content is encrypted]";

#[derive(Deserialize)]
struct EncryptedDetail {
    r#type: String,
}

/// The placeholder, if no reasoning is readable and some is encrypted.
pub(super) fn build_placeholder(
    reasoning: Option<&str>,
    details: Option<&RawValue>,
) -> Option<String> {
    let has_text = reasoning.is_some_and(|text| !text.is_empty());
    let is_needed = !has_text && details.is_some_and(is_encrypted);
    is_needed.then(|| PLACEHOLDER.to_owned())
}

fn is_encrypted(details: &RawValue) -> bool {
    let details: Vec<EncryptedDetail> = serde_json::from_str(details.get()).unwrap_or_default();
    details.iter().any(|detail| detail.r#type == "reasoning.encrypted")
}

/// The choices of a stream that already had reasoning or the placeholder.
#[derive(Debug, Default)]
pub(super) struct EncryptedHints(BTreeSet<u32>);

impl EncryptedHints {
    /// Puts the placeholder into the first delta with encrypted reasoning, unless some was
    /// readable.
    pub(super) fn insert_placeholder(&mut self, chunk: &mut ChatChunk) {
        let mut is_changed = false;
        for delta in &mut chunk.deltas {
            if !delta.reasoning.is_empty() {
                self.0.insert(delta.index);
            }
            let Some(details) = &delta.reasoning_details else { continue };
            if !self.0.contains(&delta.index)
                && let Some(placeholder) = build_placeholder(None, Some(details))
            {
                self.0.insert(delta.index);
                delta.reasoning = placeholder;
                is_changed = true;
            }
        }
        if is_changed {
            chunk.verbatim = None;
        }
    }
}
