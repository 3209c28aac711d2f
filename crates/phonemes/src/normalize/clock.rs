//! Times of the day: `9:30am`, `14:05`, `7 p.m.`.

use std::sync::LazyLock;

use regex::Regex;

use super::rewrite::{pattern, rewrite};
use crate::number::cardinal;

pub(super) fn read(text: &str) -> String {
    static TIME: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"\b(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s?([AaPp])\.?[Mm]\b\.?)?"));
    static HOUR: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"\b(\d{1,2})\s?([AaPp])(?:\.[Mm]\b\.?|[Mm]\b)"));
    let text = rewrite(text, &TIME, |found| {
        let goes_on = found.after.starts_with(|it: char| it.is_ascii_digit() || it == ':');
        let (hour, minute, second) = (found.group(1), found.group(2), found.group(3));
        if goes_on || 24 < value(hour) || 59 < value(minute) || 59 < value(second) {
            return None;
        }
        let half = half(found.group(4), found.after);
        Some(format!("{}{}{half}", clock(hour, minute, found), seconds(second)))
    });
    rewrite(&text, &HOUR, |found| {
        let hour = found.group(1);
        let half = half(found.group(2), found.after);
        (1..=12).contains(&value(hour)).then(|| format!("{}{half}", cardinal(hour)))
    })
}

fn clock(hour: &str, minute: &str, found: &super::rewrite::PatternMatch<'_>) -> String {
    let hour = cardinal(hour);
    match value(minute) {
        0 if found.has(3) || found.has(4) => hour,
        0 => format!("{hour} o'clock"),
        1..=9 => format!("{hour} oh {}", cardinal(minute)),
        _ => format!("{hour} {}", cardinal(minute)),
    }
}

fn seconds(second: &str) -> String {
    match second {
        "" => String::new(),
        "01" => " and one second".to_owned(),
        _ => format!(" and {} seconds", cardinal(second)),
    }
}

/// The dots cause the letters to be spelled.
fn half(letter: &str, after: &str) -> String {
    let dot = if after.starts_with('.') { "" } else { "." };
    match letter {
        "" => String::new(),
        _ => format!(" {}.M{dot}", letter.to_uppercase()),
    }
}

fn value(digits: &str) -> u32 {
    digits.parse().unwrap_or(0)
}
