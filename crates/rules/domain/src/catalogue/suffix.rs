//! The suffix form of a model name: `default:enable_web_search=on&strip_thinking_response=true`.

use percent_encoding::percent_decode_str;

/// A model name and the options appended to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuffixedName<'a> {
    pub model: &'a str,
    /// In the order written, values decoded. The endpoint decides which keys it knows.
    pub options: Vec<(&'a str, String)>,
}

/// Splits a model name from the options appended to it.
///
/// Names may contain colons themselves (`qwen3:8b`), so the suffix begins at the first colon that
/// is followed by `key=`. Parts without `=` are dropped, as unknown keys are.
pub fn split_suffix(asked: &str) -> SuffixedName<'_> {
    for (colon, _) in asked.match_indices(':') {
        let options: Vec<_> = asked[colon + 1..].split('&').map(parse_option).collect();
        if let Some(Some(_)) = options.first() {
            return SuffixedName {
                model: &asked[..colon],
                options: options.into_iter().flatten().collect(),
            };
        }
    }
    SuffixedName { model: asked, options: Vec::new() }
}

fn parse_option(piece: &str) -> Option<(&str, String)> {
    let (key, value) = piece.split_once('=')?;
    let is_key = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if key.is_empty() || !key.chars().all(is_key) {
        return None;
    }
    // A value that does not decode to UTF-8 was not percent-encoded: keep it as written.
    let value = match percent_decode_str(value).decode_utf8() {
        Ok(decoded) => decoded.into_owned(),
        Err(_) => value.to_owned(),
    };
    Some((key, value))
}
