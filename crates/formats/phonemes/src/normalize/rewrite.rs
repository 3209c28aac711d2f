//! Replaces regex matches, with access to the text before and after.

use regex::{Captures, Regex};

/// A match and its context.
pub(super) struct PatternMatch<'t> {
    captures: Captures<'t>,
    pub(super) before: &'t str,
    pub(super) after: &'t str,
}

impl<'t> PatternMatch<'t> {
    /// A capture group; empty if it did not participate.
    pub(super) fn group(&self, number: usize) -> &'t str {
        self.captures.get(number).map_or("", |it| it.as_str())
    }

    pub(super) fn has_group(&self, number: usize) -> bool {
        self.captures.get(number).is_some()
    }

    pub(super) fn follows_word(&self) -> bool {
        self.before.ends_with(is_word)
    }

    pub(super) fn precedes_word(&self) -> bool {
        self.after.starts_with(is_word)
    }
}

fn is_word(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

/// Replaces every match by the result of `read`; `None` leaves it unchanged.
pub(super) fn rewrite_matches(
    text: &str,
    pattern: &Regex,
    read: impl Fn(&PatternMatch<'_>) -> Option<String>,
) -> String {
    let mut rewritten = String::with_capacity(text.len());
    let mut from = 0;
    for captures in pattern.captures_iter(text) {
        let Some(whole) = captures.get(0) else { continue };
        let (before, after) = (&text[..whole.start()], &text[whole.end()..]);
        let Some(reading) = read(&PatternMatch { captures, before, after }) else { continue };
        rewritten.push_str(&text[from..whole.start()]);
        rewritten.push_str(&reading);
        from = whole.end();
    }
    rewritten.push_str(&text[from..]);
    rewritten
}

/// Compiles a pattern in which `\d` matches only 0 to 9.
pub(super) fn compile_pattern(source: &str) -> Regex {
    Regex::new(&source.replace(r"\d", "[0-9]")).expect("every pattern is compiled by the tests")
}

/// A number with thousands separators and decimals.
pub(super) const NUMBER: &str = r"\d+(?:,\d{3})*(?:\.\d+)?";
