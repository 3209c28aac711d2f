//! Thoughts that only their model can read: clients that show thoughts are told that there are some.

use std::collections::BTreeSet;

use engine::ChatChunk;
use serde::Deserialize;
use serde_json::value::RawValue;

const PLACEHOLDER: &str = "[Some reasoning content is encrypted]";

#[derive(Deserialize)]
struct Detail {
    r#type: String,
}

/// What stands for thoughts, if none can be read and some are encrypted.
pub(super) fn placeholder(reasoning: Option<&str>, details: Option<&RawValue>) -> Option<String> {
    let has_text = reasoning.is_some_and(|text| !text.is_empty());
    let is_needed = !has_text && details.is_some_and(is_encrypted);
    is_needed.then(|| PLACEHOLDER.to_owned())
}

fn is_encrypted(details: &RawValue) -> bool {
    let details: Vec<Detail> = serde_json::from_str(details.get()).unwrap_or_default();
    details.iter().any(|detail| detail.r#type == "reasoning.encrypted")
}

/// The choices of a stream whose thoughts were shown, or hinted at, by now.
#[derive(Debug, Default)]
pub(super) struct EncryptedHints(BTreeSet<u32>);

impl EncryptedHints {
    /// Puts the placeholder into the first delta that has encrypted thoughts, unless others came.
    pub(super) fn note(&mut self, chunk: &mut ChatChunk) {
        let mut is_changed = false;
        for delta in &mut chunk.deltas {
            if !delta.reasoning.is_empty() {
                self.0.insert(delta.index);
            }
            let Some(details) = &delta.reasoning_details else { continue };
            if !self.0.contains(&delta.index)
                && let Some(placeholder) = placeholder(None, Some(details))
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
