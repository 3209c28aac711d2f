//! Times of the day: `9:30am`, `14:05`, `7 p.m.`.

use std::sync::LazyLock;

use regex::Regex;

use super::rewrite::{compile_pattern, rewrite_matches};
use crate::number::to_cardinal;

pub(super) fn read_times(text: &str) -> String {
    static TIME: LazyLock<Regex> = LazyLock::new(|| {
        compile_pattern(r"\b(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s?([AaPp])\.?[Mm]\b\.?)?")
    });
    static HOUR: LazyLock<Regex> =
        LazyLock::new(|| compile_pattern(r"\b(\d{1,2})\s?([AaPp])(?:\.[Mm]\b\.?|[Mm]\b)"));
    let text = rewrite_matches(text, &TIME, |found| {
        let goes_on = found.after.starts_with(|it: char| it.is_ascii_digit() || it == ':');
        let (hour, minute, second) = (found.group(1), found.group(2), found.group(3));
        if goes_on
            || 24 < parse_number(hour)
            || 59 < parse_number(minute)
            || 59 < parse_number(second)
        {
            return None;
        }
        let half = format_half_day(found.group(4), found.after);
        Some(format!("{}{}{half}", format_time(hour, minute, found), format_seconds(second)))
    });
    rewrite_matches(&text, &HOUR, |found| {
        let hour = found.group(1);
        let half = format_half_day(found.group(2), found.after);
        (1..=12).contains(&parse_number(hour)).then(|| format!("{}{half}", to_cardinal(hour)))
    })
}

fn format_time(hour: &str, minute: &str, found: &super::rewrite::PatternMatch<'_>) -> String {
    let hour = to_cardinal(hour);
    match parse_number(minute) {
        0 if found.has_group(3) || found.has_group(4) => hour,
        0 => format!("{hour} o'clock"),
        1..=9 => format!("{hour} oh {}", to_cardinal(minute)),
        _ => format!("{hour} {}", to_cardinal(minute)),
    }
}

fn format_seconds(second: &str) -> String {
    match second {
        "" => String::new(),
        "01" => " and one second".to_owned(),
        _ => format!(" and {} seconds", to_cardinal(second)),
    }
}

/// The dots cause the letters to be spelled.
fn format_half_day(letter: &str, after: &str) -> String {
    let dot = if after.starts_with('.') { "" } else { "." };
    match letter {
        "" => String::new(),
        _ => format!(" {}.M{dot}", letter.to_uppercase()),
    }
}

fn parse_number(digits: &str) -> u32 {
    digits.parse().unwrap_or(0)
}
