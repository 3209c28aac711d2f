//! The suffix form of a model name: `default:enable_web_search=on&strip_thinking_response=true`.

use percent_encoding::percent_decode_str;

/// A model's name and the options that were written behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suffixed<'a> {
    pub model: &'a str,
    /// In the order written, values decoded. Which keys mean something is the endpoint's affair.
    pub options: Vec<(&'a str, String)>,
}

/// Separates a model's name from the options behind it.
///
/// Names may contain colons themselves (`qwen3:8b`), so the suffix begins at the first colon that
/// is followed by `key=`. Pieces without `=` are dropped, as unknown keys are.
pub fn split_suffix(asked: &str) -> Suffixed<'_> {
    for (colon, _) in asked.match_indices(':') {
        let options: Vec<_> = asked[colon + 1..].split('&').map(option).collect();
        if let Some(Some(_)) = options.first() {
            return Suffixed {
                model: &asked[..colon],
                options: options.into_iter().flatten().collect(),
            };
        }
    }
    Suffixed { model: asked, options: Vec::new() }
}

fn option(piece: &str) -> Option<(&str, String)> {
    let (key, value) = piece.split_once('=')?;
    let is_key = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if key.is_empty() || !key.chars().all(is_key) {
        return None;
    }
    // What is not UTF-8 once decoded was not encoded text: it stays as it was written.
    let value = match percent_decode_str(value).decode_utf8() {
        Ok(decoded) => decoded.into_owned(),
        Err(_) => value.to_owned(),
    };
    Some((key, value))
}
