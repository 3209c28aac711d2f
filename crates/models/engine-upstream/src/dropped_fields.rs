//! Names of request fields that are not forwarded to the upstream, for a response header.

use serde_json::{Map, Value};

/// A caller can send any number of fields; a header has room for some.
const NAMES_MAX: usize = 16;
const NAME_CHARS_MAX: usize = 64;

/// Unknown fields whose names are safe in a header.
pub(crate) fn list_unknown_fields(rest: &Map<String, Value>) -> impl Iterator<Item = String> + '_ {
    let is_plain = |name: &&String| {
        name.len() <= NAME_CHARS_MAX
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    rest.keys().filter(is_plain).take(NAMES_MAX).cloned()
}
