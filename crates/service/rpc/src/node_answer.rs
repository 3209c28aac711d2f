//! Parses a node's response item by item, without changing the bytes of a result.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::batch::CALLS_MAX;
use crate::values::{self, RawJsonValues};

/// Twice the calls of a request: leaves room for unrelated items before those that answer.
const ITEMS_MAX: usize = 2 * CALLS_MAX;

/// Longer errors are not copied to every call of a batch.
const SHARED_ERROR_BYTES_MAX: usize = 4096;

const JSON_SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

/// The valid items of a node's response, in its order.
pub(crate) struct NodeAnswer<'a> {
    pub(crate) items: Vec<AnswerItem<'a>>,
    is_array: bool,
}

impl<'a> NodeAnswer<'a> {
    /// `None` if this is not a JSON-RPC response at all.
    pub(crate) fn read(body: &'a [u8]) -> Option<NodeAnswer<'a>> {
        let text = str::from_utf8(body).ok()?.trim_matches(JSON_SPACE);
        if let Some(only) = AnswerItem::read(text) {
            return Some(NodeAnswer { items: vec![only], is_array: false });
        }
        let RawJsonValues::Many { kept, .. } = values::parse_values(body, ITEMS_MAX).ok()? else {
            return None;
        };
        let items = kept.into_iter().map(RawValue::get).filter_map(AnswerItem::read).collect();
        Some(NodeAnswer { items, is_array: true })
    }

    /// The error of a node that answers a whole batch with one object, because it does not support
    /// batches or found this one too long.
    pub(crate) fn shared_error(&self) -> Option<&'a RawValue> {
        if self.is_array {
            return None;
        }
        let only = self.items.first()?;
        let error = only.error?;
        let is_for_all = only.asked_id().is_none() && error.get().len() <= SHARED_ERROR_BYTES_MAX;
        is_for_all.then_some(error)
    }
}

/// One answer: an object that has a result or an error.
pub(crate) struct AnswerItem<'a> {
    text: &'a str,
    id: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

impl<'a> AnswerItem<'a> {
    fn read(text: &'a str) -> Option<AnswerItem<'a>> {
        let is_object = text.starts_with('{');
        if !is_object {
            return None;
        }
        let members: AnswerMembers<'a> = serde_json::from_str(text).ok()?;
        // Some nodes follow JSON-RPC 1.0 and send both members, one of them null.
        let error = members.error.filter(|it| it.get() != "null");
        let is_answer = error.is_some() || members.result.is_some();
        is_answer.then_some(AnswerItem { text, id: members.id, result: members.result, error })
    }

    pub(crate) fn is_error(&self) -> bool {
        self.error.is_some()
    }

    /// The result byte for byte.
    pub(crate) fn result(&self) -> &'a str {
        self.result.map_or("null", RawValue::get)
    }

    pub(crate) fn has_no_id(&self) -> bool {
        match self.id {
            Some(id) => id.get() == "null",
            None => true,
        }
    }

    /// The number we gave the call; some nodes return it as a string.
    pub(crate) fn asked_id(&self) -> Option<usize> {
        self.id?.get().trim_matches('"').parse().ok()
    }

    /// The code and message of the node's error; defaults if it has another shape.
    pub(crate) fn error_details(&self) -> ErrorDetails {
        let read = self.error.and_then(|it| serde_json::from_str(it.get()).ok());
        read.unwrap_or_default()
    }

    /// The item as the node sent it, with the caller's id.
    pub(crate) fn with_id(&self, id: &str) -> String {
        let text = self.text;
        let Some(ours) = self.id else {
            return format!("{{\"id\":{id},{}", &text[1..]);
        };
        let ours = ours.get();
        let start = ours.as_ptr().addr() - text.as_ptr().addr();
        let (before, after) = (&text[..start], &text[start + ours.len()..]);
        [before, id, after].concat()
    }
}

/// The parts of an error that decide about retries.
#[derive(Default, Deserialize)]
pub(crate) struct ErrorDetails {
    #[serde(default)]
    pub(crate) code: i64,
    #[serde(default)]
    pub(crate) message: String,
}

#[derive(Deserialize)]
struct AnswerMembers<'a> {
    #[serde(borrow, default, deserialize_with = "values::present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "values::present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "values::present")]
    error: Option<&'a RawValue>,
}
