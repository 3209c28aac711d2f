//! Single values: text, numbers and URLs within the bounds their key declares.
//!
//! Each parser answers with the value, or with what it expected in the words of a message.

use crate::key::{Key, Kind};
use crate::node::{Node, Value};

/// No setting is longer; a larger one is a file given by mistake.
const TEXT_BYTES_MAX: usize = 64 * 1024;
/// Enough of a value to recognise it in a message, and not more.
const SHOWN_CHARS_MAX: usize = 64;

pub(crate) fn text(node: &Node) -> Result<String, String> {
    let Value::Text(text) = &node.value else { return Err("text in quotes".to_owned()) };
    if text.trim().is_empty() {
        return Err("text that is not empty".to_owned());
    }
    if TEXT_BYTES_MAX < text.len() {
        return Err(format!("at most {TEXT_BYTES_MAX} bytes"));
    }
    Ok(text.clone())
}

pub(crate) fn integer(node: &Node, key: &Key) -> Result<i64, String> {
    let (Kind::Integer { least, most }
    | Kind::Integers { least, most }
    | Kind::Seconds { least, most }) = key.kind
    else {
        unreachable!("`{}` is declared as a whole number", key.name);
    };
    match node.value {
        Value::Integer(integer) if least <= integer && integer <= most => Ok(integer),
        _ => Err(format!("a whole number from {least} to {most}")),
    }
}

pub(crate) fn number(node: &Node, key: &Key) -> Result<f64, String> {
    let Kind::Number { least, most } = key.kind else {
        unreachable!("`{}` is declared as a number", key.name);
    };
    let number = match node.value {
        Value::Number(number) => number,
        // Exact within every bound that a key declares.
        Value::Integer(integer) => integer as f64,
        _ => f64::NAN,
    };
    if least <= number && number <= most {
        return Ok(number);
    }
    Err(format!("a number from {least} to {most}"))
}

/// The number that a text in quotes writes, so that `"0.7"` is read as `0.7` is; anything else as it
/// stands.
pub(crate) fn without_quotes(node: &Node) -> Node {
    let Value::Text(text) = &node.value else { return node.clone() };
    let integer = text.parse().map(Value::Integer).ok();
    let number = || text.parse().ok().filter(|it: &f64| it.is_finite()).map(Value::Number);
    let value = integer.or_else(number).unwrap_or_else(|| node.value.clone());
    Node { value, origin: node.origin.clone() }
}

pub(crate) fn url(node: &Node, key: &Key) -> Result<String, String> {
    let written = text(node)?;
    checked_url(&written, key)?;
    Ok(written)
}

/// Whether a text is a URL of the kind that its key declares.
pub(crate) fn checked_url(written: &str, key: &Key) -> Result<(), String> {
    let (Kind::Url(starts)
    | Kind::Urls(starts)
    | Kind::SecretUrl(starts)
    | Kind::SecretUrls(starts)) = key.kind
    else {
        unreachable!("`{}` is declared as a URL", key.name);
    };
    let is_plain = written.chars().all(|letter| letter.is_ascii_graphic());
    let fits = |start: &&str| match written.strip_prefix(*start) {
        // Whatever ends in slashes must go on with a host; `memory:` is complete as it is.
        Some(rest) => !start.ends_with('/') || has_host(rest),
        None => false,
    };
    if is_plain && starts.iter().any(fits) {
        return Ok(());
    }
    Err(format!("a URL that starts with {}", starts.join(" or ")))
}

/// Whether what follows the slashes names a host, perhaps after a password, which Redis has without a
/// user.
fn has_host(rest: &str) -> bool {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    !host.is_empty() && !host.starts_with(':')
}

/// A value for a message: shortened, and without the password of a URL.
pub(crate) fn shown(text: &str) -> String {
    let text = without_password(text);
    if text.chars().count() <= SHOWN_CHARS_MAX {
        return text;
    }
    let start: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    format!("{start}…")
}

/// `https://node.example/v2/key` becomes `https://node.example/***`.
pub(crate) fn without_path(url: &str) -> String {
    let url = without_password(url);
    let Some((scheme, rest)) = url.split_once("://") else { return "***".to_owned() };
    match rest.split_once(['/', '?', '#']) {
        Some((_, "")) | None => url,
        Some((host, _)) => format!("{scheme}://{host}/***"),
    }
}

/// `postgres://me:secret@host/db` becomes `postgres://me:***@host/db`.
pub(crate) fn without_password(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let authority_end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(authority_end);
    let Some((user, host)) = authority.rsplit_once('@') else { return text.to_owned() };
    let name = user.split(':').next().unwrap_or_default();
    format!("{scheme}://{name}:***@{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_a_host_with_or_without_a_password_before_it() {
        for good in ["db", "db:5432/x", ":secret@db/0", "user:secret@db:1", "[::1]:80", "a@b?c=@"] {
            assert!(has_host(good), "{good}");
        }
        for bad in ["", "/x", ":80", ":80/x", "user@", "user:secret@:80", "?x"] {
            assert!(!has_host(bad), "{bad}");
        }
    }
}
