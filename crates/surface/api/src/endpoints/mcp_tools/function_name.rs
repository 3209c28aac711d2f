//! Names of the functions that stand for tools of MCP servers.

use sha2::{Digest, Sha256};

/// Names of functions have at most this many characters in chats.
const NAME_CHARS_MAX: usize = 64;
/// Hexadecimal digits of the digest at the end of a shortened name.
const DIGEST_DIGITS: usize = 8;
/// Hexadecimal digits of an id of a call. Some providers take at most 40 characters.
const CALL_ID_DIGITS: usize = 24;

/// `label__tool`, or a shortened name if that one is no name of a function or is taken.
pub(crate) fn build_function_name(
    label: &str,
    tool: &str,
    is_taken: impl Fn(&str) -> bool,
) -> String {
    let plain = format!("{label}__{tool}");
    let is_valid = plain.len() <= NAME_CHARS_MAX && plain.chars().all(is_name_char);
    if is_valid && !is_taken(&plain) {
        return plain;
    }
    let allowed = plain.chars().map(|it| if is_name_char(it) { it } else { '_' });
    let start: String = allowed.take(NAME_CHARS_MAX - DIGEST_DIGITS - 1).collect();
    format!("{start}_{}", hex_digest(&[label, tool], DIGEST_DIGITS))
}

/// The id of a call in a chat, for a call whose own id is longer than providers accept.
pub(crate) fn build_call_id(item_id: &str) -> String {
    format!("call_{}", hex_digest(&[item_id], CALL_ID_DIGITS))
}

fn hex_digest(texts: &[&str], digits: usize) -> String {
    let mut digest = Sha256::new();
    for text in texts {
        digest.update(text.as_bytes());
        digest.update([0]);
    }
    let all: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    all.chars().take(digits).collect()
}

fn is_name_char(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_valid_unique_and_short() {
        let free = |_: &str| false;
        assert_eq!(build_function_name("a", "b", free), "a__b");
        let long = "t".repeat(128);
        let names = [
            build_function_name("a", &long, free),
            build_function_name("a", &format!("{long}u"), free),
            build_function_name("a", "get.weather", free),
            build_function_name("a", "get/weather", free),
            build_function_name("a", "b", |name| name == "a__b"),
        ];
        for (index, name) in names.iter().enumerate() {
            assert!(name.len() <= NAME_CHARS_MAX && name.chars().all(is_name_char), "{name}");
            assert!(!names[..index].contains(name), "{name}");
        }
    }
}
