//! Dates: `2024-03-05`, `7/4/1976`, `Jan. 5th, 2019`, `5 May 2020`.

use std::sync::LazyLock;

use regex::Regex;

use super::rewrite::{compile_pattern, rewrite_matches};
use crate::number::{to_ordinal, to_year};

pub(super) fn read_dates(text: &str) -> String {
    static ISO: LazyLock<Regex> = LazyLock::new(|| compile_pattern(r"\b(\d{4})-(\d{2})-(\d{2})\b"));
    static SLASHED: LazyLock<Regex> =
        LazyLock::new(|| compile_pattern(r"\b(\d{1,2})/(\d{1,2})/(\d{4}|\d{2})\b"));
    static MONTH_DAY: LazyLock<Regex> = LazyLock::new(|| {
        let month = month_names();
        compile_pattern(&format!(r"\b({month})\b\.? (\d{{1,2}})(?:st|nd|rd|th)?\b(,? \d{{4}}\b)?"))
    });
    static DAY_MONTH: LazyLock<Regex> = LazyLock::new(|| {
        let month = month_names();
        compile_pattern(&format!(
            r"\b(?:the )?(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?({month})\b(\.)?"
        ))
    });
    let text = rewrite_matches(text, &ISO, |it| format_date(it.group(1), it.group(2), it.group(3)));
    let text = rewrite_matches(&text, &SLASHED, |it| {
        format_slashed_date(it.group(1), it.group(2), it.group(3))
    });
    let text = rewrite_matches(&text, &MONTH_DAY, |found| {
        let goes_on = found.after.starts_with([':', '%']);
        let day = format_day(found.group(2)).filter(|_| !goes_on)?;
        let year = found.group(3);
        let comma = if year.starts_with(',') { "," } else { "" };
        let digits = year.trim_start_matches([',', ' ']);
        let year = if digits.is_empty() {
            String::new()
        } else {
            format!("{comma} {}", self::to_year(digits))
        };
        Some(format!("{} {day}{year}", full_name(found.group(1))?))
    });
    rewrite_matches(&text, &DAY_MONTH, |found| {
        let (written, name) = (found.group(2), full_name(found.group(2))?);
        // The dot ends the sentence if the month is not abbreviated, or if nothing follows.
        let dot = if written == name || found.after.is_empty() { found.group(3) } else { "" };
        Some(format!("the {} of {name}{dot}", format_day(found.group(1))?))
    })
}

fn format_date(year: &str, month: &str, day: &str) -> Option<String> {
    let number: usize = month.parse().ok()?;
    let month = MONTHS.get(number.checked_sub(1)?)?;
    Some(format!("{month} {}, {}", self::format_day(day)?, crate::number::to_year(year)))
}

/// The month comes first, as in the United States, unless it is not a valid month.
fn format_slashed_date(first: &str, second: &str, year: &str) -> Option<String> {
    let century = match year.parse::<u32>().ok()? {
        0..=30 if year.len() == 2 => "20",
        31..=99 if year.len() == 2 => "19",
        _ => "",
    };
    let year = format!("{century}{year}");
    format_date(&year, first, second).or_else(|| format_date(&year, second, first))
}

fn format_day(digits: &str) -> Option<String> {
    let number: u32 = digits.parse().ok()?;
    (1..=31).contains(&number).then(|| to_ordinal(digits))
}

/// The full name of a month that may be abbreviated.
fn full_name(month: &str) -> Option<&'static str> {
    MONTHS.into_iter().find(|it| it.starts_with(month) || month == "Sept" && *it == "September")
}

fn month_names() -> String {
    let short = MONTHS.map(|it| &it[..3]);
    [MONTHS.join("|"), "Sept".to_owned(), short.join("|")].join("|")
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
