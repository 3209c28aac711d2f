//! Parsers of scalar values: strings, numbers and URLs within the bounds of their keys.
//!
//! Each parser returns the value, or a description of the expected value for a message.

use crate::key::{ConfigKey, ValueKind};
use crate::node::{ConfigNode, ConfigValue};

/// Limit of a string value; a longer one is a file pasted by mistake.
const TEXT_BYTES_MAX: usize = 64 * 1024;
/// The number of characters of a value that a message shows.
const SHOWN_CHARS_MAX: usize = 64;

pub(crate) fn parse_text(node: &ConfigNode) -> Result<String, String> {
    let ConfigValue::Text(text) = &node.value else { return Err("text in quotes".to_owned()) };
    if text.trim().is_empty() {
        return Err("text that is not empty".to_owned());
    }
    if TEXT_BYTES_MAX < text.len() {
        return Err(format!("at most {TEXT_BYTES_MAX} bytes"));
    }
    Ok(text.clone())
}

pub(crate) fn parse_integer(node: &ConfigNode, key: &ConfigKey) -> Result<i64, String> {
    let (ValueKind::Integer { least, most }
    | ValueKind::Integers { least, most }
    | ValueKind::Seconds { least, most }) = key.kind
    else {
        unreachable!("`{}` is declared as a whole number", key.name);
    };
    match node.value {
        ConfigValue::Integer(integer) if least <= integer && integer <= most => Ok(integer),
        _ => Err(format!("a whole number from {least} to {most}")),
    }
}

pub(crate) fn parse_number(node: &ConfigNode, key: &ConfigKey) -> Result<f64, String> {
    let ValueKind::Number { least, most } = key.kind else {
        unreachable!("`{}` is declared as a number", key.name);
    };
    let number = match node.value {
        ConfigValue::Number(number) => number,
        // Exact, because the bounds of all keys are below 2^53.
        ConfigValue::Integer(integer) => integer as f64,
        _ => f64::NAN,
    };
    if least <= number && number <= most {
        return Ok(number);
    }
    Err(format!("a number from {least} to {most}"))
}

/// Converts a number in quotes to a number, so that `"0.7"` is read like `0.7`. Returns other
/// values unchanged.
pub(crate) fn unquote_number(node: &ConfigNode) -> ConfigNode {
    let ConfigValue::Text(text) = &node.value else { return node.clone() };
    let integer = text.parse().map(ConfigValue::Integer).ok();
    let number = || text.parse().ok().filter(|it: &f64| it.is_finite()).map(ConfigValue::Number);
    let value = integer.or_else(number).unwrap_or_else(|| node.value.clone());
    ConfigNode { value, origin: node.origin.clone() }
}

pub(crate) fn parse_url(node: &ConfigNode, key: &ConfigKey) -> Result<String, String> {
    let written = parse_text(node)?;
    checked_url(&written, key)?;
    Ok(written)
}

/// Checks that a text is a URL with one of the prefixes of its key.
pub(crate) fn checked_url(written: &str, key: &ConfigKey) -> Result<(), String> {
    let (ValueKind::Url(starts)
    | ValueKind::Urls(starts)
    | ValueKind::SecretUrl(starts)
    | ValueKind::SecretUrls(starts)) = key.kind
    else {
        unreachable!("`{}` is declared as a URL", key.name);
    };
    let is_plain = written.chars().all(|letter| letter.is_ascii_graphic());
    let fits = |start: &&str| match written.strip_prefix(*start) {
        // A prefix that ends in a slash needs a host after it; `memory:` is complete.
        Some(rest) => !start.ends_with('/') || has_host(rest),
        None => false,
    };
    if is_plain && starts.iter().any(fits) {
        return Ok(());
    }
    Err(format!("a URL that starts with {}", starts.join(" or ")))
}

/// True if the part after the slashes contains a host. A password may precede it; Redis URLs have
/// one without a user.
fn has_host(rest: &str) -> bool {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    !host.is_empty() && !host.starts_with(':')
}

/// Shortens a value for a message and removes the password of a URL.
pub(crate) fn shorten_for_message(text: &str) -> String {
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
