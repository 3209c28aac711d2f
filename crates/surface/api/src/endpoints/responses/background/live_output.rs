//! The output of a response in progress, gathered from its events: what is left if it ends early.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The items so far, by output index.
#[derive(Default)]
pub(super) struct LiveOutput {
    items: BTreeMap<u64, LiveItem>,
}

struct LiveItem {
    item: Value,
    text: String,
    is_done: bool,
}

impl LiveOutput {
    pub(super) fn read_event(&mut self, event: &Value) {
        let Some(index) = event["output_index"].as_u64() else { return };
        match event["type"].as_str() {
            Some("response.output_item.added") => {
                let item = event["item"].clone();
                self.items.insert(index, LiveItem { item, text: String::new(), is_done: false });
            }
            Some("response.output_item.done") => {
                let item = event["item"].clone();
                self.items.insert(index, LiveItem { item, text: String::new(), is_done: true });
            }
            Some("response.output_text.delta") => {
                if let Some(live) = self.items.get_mut(&index) {
                    live.text.push_str(event["delta"].as_str().unwrap_or_default());
                }
            }
            _ => {}
        }
    }

    /// The items; a message in progress with its text so far.
    pub(super) fn into_items(self) -> Vec<Value> {
        let items = self.items.into_values().filter_map(|live| {
            let LiveItem { mut item, text, is_done } = live;
            if !is_done {
                item["status"] = "incomplete".into();
                if item["type"] == "message" {
                    item["content"] =
                        json!([{ "type": "output_text", "text": text, "annotations": [] }]);
                } else if item["type"] == "function_call" {
                    // Its arguments are not complete, so nobody can call it.
                    return None;
                }
            }
            Some(item)
        });
        items.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_so_far_is_kept() {
        let mut live = LiveOutput::default();
        for event in [
            json!({"type": "response.output_item.added", "output_index": 0,
                "item": {"type": "message", "id": "m", "content": [], "status": "in_progress"}}),
            json!({"type": "response.output_text.delta", "output_index": 0, "delta": "Hel"}),
            json!({"type": "response.output_text.delta", "output_index": 0, "delta": "lo"}),
            json!({"type": "response.output_item.added", "output_index": 1,
                "item": {"type": "function_call", "id": "f"}}),
            json!({"type": "response.in_progress"}),
        ] {
            live.read_event(&event);
        }
        let items = live.into_items();
        assert_eq!(items.len(), 1);
        assert_eq!(items[0]["content"][0]["text"], "Hello");
        assert_eq!(items[0]["status"], "incomplete");
    }
}
