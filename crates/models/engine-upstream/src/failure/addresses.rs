//! Removes URLs, host names and file paths from an upstream's messages, so that callers do not
//! learn where engines run.

use std::net::IpAddr;

/// Top-level directories of file paths on servers. A JSON pointer such as `/messages/0` starts with
/// none of them.
const FOLDERS: [&str; 13] = [
    "app",
    "data",
    "etc",
    "home",
    "mnt",
    "models",
    "opt",
    "root",
    "srv",
    "tmp",
    "usr",
    "var",
    "workspace",
];
/// Lower numbers after a colon are indexes and sizes, not ports.
const PORT_MIN: u16 = 80;
const INNER_SUFFIXES: [&str; 5] = [".internal", ".local", ".lan", ".svc", ".localdomain"];

pub(super) fn without_addresses(text: &str) -> String {
    let is_separator = |it: char| it.is_whitespace() || "'\"`()<>,;=|{}".contains(it);
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let word_end = rest.find(is_separator).unwrap_or(rest.len());
        let (word, after) = rest.split_at(word_end);
        // An address may be followed by the punctuation of the sentence.
        let core = word.trim_end_matches(['.', ':', '!', '?']);
        if is_address(core) {
            clean.push_str("[…]");
            clean.push_str(&word[core.len()..]);
        } else {
            clean.push_str(word);
        }
        let mut characters = after.chars();
        clean.extend(characters.next());
        rest = characters.as_str();
    }
    clean
}

/// True if the path starts with one of `FOLDERS` and has a further component.
fn is_file(path: &str) -> bool {
    let folder = path.strip_prefix('/').and_then(|rest| rest.split_once('/'));
    folder.is_some_and(|(first, _)| FOLDERS.contains(&first))
}

fn is_address(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    if lower.contains("://") || is_file(&lower) {
        return true;
    }
    let host = lower.split('/').next().unwrap_or_default();
    let (name, has_port) = match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') || name.ends_with(']') => {
            (name, matches!(port.parse::<u16>(), Ok(PORT_MIN..)))
        }
        _ => (host, false),
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    let is_inner = INNER_SUFFIXES.iter().any(|suffix| name.ends_with(suffix));
    let is_number = name.parse::<IpAddr>().is_ok();
    is_number || is_inner || name == "localhost" || (has_port && name.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_blotted_out_and_other_words_stay() {
        for (said, kept) in [
            ("cannot load http://10.0.0.5:8000/v1/x. Try again", "cannot load […]. Try again"),
            (
                "HTTPConnectionPool(host='10.1.2.3', port=9)",
                "HTTPConnectionPool(host='[…]', port=9)",
            ),
            ("no route to vllm-0.gpu.svc:8000/v1", "no route to […]"),
            ("at [fd00::1]:80, ::1 and localhost:9000", "at […], […] and […]"),
            ("File \"/opt/vllm/engine.py\", line 3", "File \"[…]\", line 3"),
            ("redis.internal refused", "[…] refused"),
            ("at /messages/0/content: too long", "at /messages/0/content: too long"),
            ("model qwen3:4b has no tools", "model qwen3:4b has no tools"),
            ("max_tokens: 100000 is above 4096.", "max_tokens: 100000 is above 4096."),
            ("loc: body.messages:0, got 1.5", "loc: body.messages:0, got 1.5"),
            ("version 1.2.3 and either/or", "version 1.2.3 and either/or"),
        ] {
            assert_eq!(without_addresses(said), kept, "{said}");
        }
    }
}
