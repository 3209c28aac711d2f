//! Items as they are stored: each with an id, messages in one form.

use domain::entropy::{EntropySource, request_id};
use serde_json::{Map, Value, json};
use wire::conversations::{ItemListQuery, ItemOrder, StoredItemList};

/// The items of a page if the caller does not say how many.
const PAGE_DEFAULT: usize = 20;

/// One item of a conversation.
pub(in crate::endpoints) type ItemFields = Map<String, Value>;

/// The items of an `input`, with new ids. What is no item is left out: the schema was checked before.
pub(in crate::endpoints) fn normalise_input(
    input: Value,
    entropy: &dyn EntropySource,
) -> Vec<ItemFields> {
    let items = match input {
        Value::String(text) => vec![json!({ "role": "user", "content": text })],
        Value::Array(items) => items,
        _ => Vec::new(),
    };
    let items = items.into_iter().filter_map(|item| match item {
        Value::Object(fields) => Some(normalise_item(fields, entropy)),
        _ => None,
    });
    items.collect()
}

fn normalise_item(mut item: ItemFields, entropy: &dyn EntropySource) -> ItemFields {
    if !item.contains_key("type") {
        item.insert("type".to_owned(), "message".into());
    }
    let kind = item["type"].as_str().unwrap_or_default().to_owned();
    if kind == "message" {
        let is_model = item.get("role").is_some_and(|role| role == "assistant");
        let part = if is_model { "output_text" } else { "input_text" };
        if let Some(Value::String(text)) = item.get("content") {
            let content = json!([{ "type": part, "text": text }]);
            item.insert("content".to_owned(), content);
        }
        item.entry("status").or_insert_with(|| "completed".into());
    }
    // A reference names an item by its id.
    if kind != "item_reference" {
        let id = format!("{}_{}", id_prefix(&kind), request_id(entropy));
        item.insert("id".to_owned(), id.into());
    }
    item
}

fn id_prefix(kind: &str) -> &'static str {
    match kind {
        "message" => "msg",
        "function_call" => "fc",
        "function_call_output" => "fco",
        "custom_tool_call" => "ctc",
        "custom_tool_call_output" => "ctco",
        "reasoning" => "rs",
        _ => "item",
    }
}

/// The id of an item; empty if it has none.
pub(in crate::endpoints) fn item_id(item: &ItemFields) -> &str {
    item.get("id").and_then(Value::as_str).unwrap_or_default()
}

/// A page of items that are in memory; None if `after` names none of them.
pub(in crate::endpoints) fn page_items(
    mut items: Vec<ItemFields>,
    query: &ItemListQuery,
) -> Option<StoredItemList> {
    if !is_ascending(query) {
        items.reverse();
    }
    if let Some(after) = &query.after {
        let place = items.iter().position(|item| item_id(item) == after)?;
        items.drain(..=place);
    }
    Some(build_list(items, page_size(query)))
}

pub(in crate::endpoints) fn is_ascending(query: &ItemListQuery) -> bool {
    query.order == Some(ItemOrder::Asc)
}

pub(in crate::endpoints) fn page_size(query: &ItemListQuery) -> usize {
    query.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(PAGE_DEFAULT)
}

/// A list of at most `limit` items; more of them mean that the list goes on.
pub(in crate::endpoints) fn build_list(mut data: Vec<ItemFields>, limit: usize) -> StoredItemList {
    let has_more = limit < data.len();
    data.truncate(limit);
    let id = |item: Option<&ItemFields>| item.map(|item| item_id(item).to_owned());
    let (first_id, last_id) = (id(data.first()), id(data.last()));
    StoredItemList { object: "list", data, first_id, last_id, has_more }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct ZeroEntropy;

    impl EntropySource for ZeroEntropy {
        fn fill_bytes(&self, bytes: &mut [u8]) {
            bytes.fill(0);
        }
    }

    #[test]
    fn a_text_is_a_message_and_every_item_has_an_id() {
        let items = normalise_input(json!("Hi"), &ZeroEntropy);
        assert_eq!(items[0]["content"], json!([{"type": "input_text", "text": "Hi"}]));
        assert_eq!(items[0]["type"], "message");
        assert!(item_id(&items[0]).starts_with("msg_0"));
        let items = normalise_input(
            json!([{"role": "assistant", "content": "Yes"},
                {"type": "function_call_output", "call_id": "c", "output": "1", "id": "mine"},
                {"type": "item_reference", "id": "kept"}]),
            &ZeroEntropy,
        );
        assert_eq!(items[0]["content"][0]["type"], "output_text");
        assert!(item_id(&items[1]).starts_with("fco_0"));
        assert_eq!(item_id(&items[2]), "kept");
    }

    #[test]
    fn a_page_begins_after_the_named_item() {
        let items = |names: &[&str]| -> Vec<ItemFields> {
            names.iter().map(|id| json!({"id": id}).as_object().unwrap().clone()).collect()
        };
        let query = |after: Option<&str>, limit, order| ItemListQuery {
            after: after.map(str::to_owned),
            limit: Some(limit),
            order,
        };
        let page = page_items(items(&["a", "b", "c"]), &query(None, 2, None)).unwrap();
        assert_eq!((page.first_id.as_deref(), page.last_id.as_deref()), (Some("c"), Some("b")));
        assert!(page.has_more);
        let asc = Some(ItemOrder::Asc);
        let page = page_items(items(&["a", "b", "c"]), &query(Some("b"), 2, asc)).unwrap();
        assert_eq!((page.data.len(), page.has_more), (1, false));
        assert!(page_items(items(&["a"]), &query(Some("x"), 2, None)).is_none());
    }
}
