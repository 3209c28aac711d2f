//! Fields that a caller sent and an upstream does not get, by name, for a header of the answer.

use serde_json::{Map, Value};

/// Callers can send as many fields as they like; a header has room for some.
const NAMES_MAX: usize = 16;
const NAME_CHARS_MAX: usize = 64;

/// The fields that we do not know either, as far as they are fit for a header.
pub(crate) fn unknown(rest: &Map<String, Value>) -> impl Iterator<Item = String> + '_ {
    let is_plain = |name: &&String| {
        name.len() <= NAME_CHARS_MAX
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    rest.keys().filter(is_plain).take(NAMES_MAX).cloned()
}
