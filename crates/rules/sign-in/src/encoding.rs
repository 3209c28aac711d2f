//! Reads JSON objects and base64 of bounded size.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};
use subtle::ConstantTimeEq;

/// The JSON object in an answer. None if it is too long, not JSON, or not an object.
pub(crate) fn parse_object(bytes: &[u8], bytes_max: usize) -> Option<Map<String, Value>> {
    if bytes_max < bytes.len() {
        return None;
    }
    match serde_json::from_slice(bytes).ok()? {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

/// A field that is a text.
pub(crate) fn text_field<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    object.get(name).and_then(Value::as_str)
}

/// The texts of a field that is a list; other entries of the list are skipped. None if it is absent
/// or no list.
pub(crate) fn text_list<'a>(object: &'a Map<String, Value>, name: &str) -> Option<Vec<&'a str>> {
    let list = object.get(name)?.as_array()?;
    Some(list.iter().filter_map(Value::as_str).collect())
}

pub(crate) fn encode_base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Decodes base64 of the URL alphabet without padding, as JSON Web Tokens have it.
pub(crate) fn decode_base64url(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// Compares in a time that depends on the lengths alone.
pub(crate) fn is_same_secret(one: &[u8], other: &[u8]) -> bool {
    one.ct_eq(other).into()
}

/// Printable ASCII without the space: what codes and tokens of OAuth consist of.
pub(crate) fn is_visible_ascii(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// A text for people from a provider: without control characters, and cut to a number of characters.
pub(crate) fn clean_label(text: &str, characters_max: usize) -> Option<String> {
    let kept: String = text.chars().filter(|it| !it.is_control()).take(characters_max).collect();
    let kept = kept.trim();
    (!kept.is_empty()).then(|| kept.to_owned())
}
