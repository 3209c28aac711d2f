//! Numbers that no other rule has read: cardinals, ordinals, years, decimals, fractions, ranges,
//! telephone numbers, and numbers of roads, flights and models.

use std::sync::LazyLock;

use regex::Regex;

use super::rewrite::{PatternMatch, compile_pattern, rewrite_matches};
use crate::number::{spell_digits, to_cardinal, to_code, to_decimals, to_ordinal, to_year};

pub(super) fn read_numerals(text: &str) -> String {
    static TELEPHONE: LazyLock<Regex> =
        LazyLock::new(|| compile_pattern(r"\b(?:\d{3}-)?\d{3}-\d{4}\b"));
    static FRACTION: LazyLock<Regex> =
        LazyLock::new(|| compile_pattern(r"\b(\d{1,2})/(\d{1,2})\b"));
    static RANGE: LazyLock<Regex> =
        LazyLock::new(|| compile_pattern(r"\b(\d{1,4})\s?[-–]\s?(\d{1,4})\b"));
    static SLASH: LazyLock<Regex> = LazyLock::new(|| compile_pattern(r"(\d)/(\d)"));
    static NUMERAL: LazyLock<Regex> = LazyLock::new(|| {
        compile_pattern(
            r"(-)?((?:\d{1,3}(?:,\d{3})+|\d+)?)((?:\.\d+)*)(st\b|nd\b|rd\b|th\b|'?s\b)?",
        )
    });
    let text = rewrite_matches(text, &TELEPHONE, |found| {
        let groups: Vec<String> = found.group(0).split('-').map(spell_digits).collect();
        is_separate(found).then(|| groups.join(", "))
    });
    let text = rewrite_matches(&text, &FRACTION, |found| {
        let parts = format_fraction(found.group(1), found.group(2))?;
        is_separate(found).then_some(parts)
    });
    let text = rewrite_matches(&text, &RANGE, |found| {
        is_separate(found).then(|| format!("{} to {}", found.group(1), found.group(2)))
    });
    // Twice, because a match consumes the digit with which the next one would begin.
    let text = SLASH.replace_all(&text, "$1 slash $2");
    let text = SLASH.replace_all(&text, "$1 slash $2");
    rewrite_matches(&text, &NUMERAL, format_numeral)
}

/// True if not part of something longer, such as a serial number.
fn is_separate(found: &PatternMatch<'_>) -> bool {
    !found.before.ends_with(['-', '.', '/', ',']) && !found.after.starts_with(['-', '/'])
}

fn format_fraction(count: &str, of: &str) -> Option<String> {
    let (count_value, of_value): (usize, usize) = (count.parse().ok()?, of.parse().ok()?);
    let name = PARTS.get(of_value.checked_sub(2)?)?;
    if count_value == 0 || of_value <= count_value {
        return None;
    }
    let plural = match (count_value, *name) {
        (1, name) => name.to_owned(),
        (_, "half") => "halves".to_owned(),
        (_, name) => format!("{name}s"),
    };
    Some(format!("{} {plural}", to_cardinal(count)))
}

const PARTS: [&str; 9] =
    ["half", "third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];

fn format_numeral(found: &PatternMatch<'_>) -> Option<String> {
    let (whole, decimals, suffix) = (found.group(2), found.group(3), found.group(4));
    if whole.is_empty() && decimals.is_empty() {
        return None;
    }
    let digits = whole.replace(',', "");
    let in_name = found.before.ends_with(char::is_alphabetic);
    let words = match suffix {
        "st" | "nd" | "rd" | "th" if decimals.is_empty() => to_ordinal(&digits),
        _ if !decimals.is_empty() => with_decimals(&digits, decimals),
        _ if between_letters(found, whole) => "to".to_owned(),
        _ if in_name => to_code(&digits),
        _ if whole.len() == 4 && !found.before.ends_with('-') => to_year(&digits),
        _ if digits.len() > 1 && digits.starts_with('0') => spell_digits(&digits),
        _ => to_cardinal(&digits),
    };
    let words = if suffix.ends_with('s') { to_plural(&words) } else { words };
    let sign = match (found.has_group(1), found.before.chars().next_back()) {
        (true, None | Some(' ' | '(' | '[' | '"' | '=' | ',')) => "minus ",
        (true, _) => " ",
        (false, Some(before)) if before.is_alphanumeric() => " ",
        (false, _) => "",
    };
    let space = if found.precedes_word() || found.after.starts_with('-') { " " } else { "" };
    Some(format!("{sign}{words}{space}"))
}

/// The 2 of B2B.
fn between_letters(found: &PatternMatch<'_>, whole: &str) -> bool {
    let letter = |it: char| it.is_alphabetic();
    whole == "2" && found.before.ends_with(letter) && found.after.starts_with(letter)
}

/// One group of decimals belongs to a number; several are a version or an address.
fn with_decimals(digits: &str, decimals: &str) -> String {
    let whole = if digits.is_empty() { String::new() } else { to_cardinal(digits) };
    let groups: Vec<&str> = decimals.split('.').skip(1).collect();
    let rest = match groups.as_slice() {
        [one] => to_decimals(one).unwrap_or_default(),
        many => {
            many.iter().map(|it| format!("point {}", to_code(it))).collect::<Vec<_>>().join(" ")
        }
    };
    let words = format!("{whole} {rest}");
    let words = words.trim();
    if words.is_empty() { to_cardinal("0") } else { words.to_owned() }
}

/// "nineties", "sixes", "fives".
fn to_plural(words: &str) -> String {
    if let Some(stem) = words.strip_suffix('y') {
        return format!("{stem}ies");
    }
    let ending = if words.ends_with('x') { "es" } else { "s" };
    format!("{words}{ending}")
}
