//! Formats numbers in Excel cells, and detects dates.

use std::collections::HashMap;

use moment::Timestamp;

use crate::fault::DocumentReadError;
use crate::markup::{MarkupEvent, MarkupParser};

/// Excel's own limit of styles per workbook.
const STYLES_MAX: usize = 65_536;

/// The epoch of a workbook's dates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum DateSystem {
    #[default]
    From1900,
    /// Used by Excel for the Macintosh.
    From1904,
}

/// The meaning of numbers in cells, by cell style.
#[derive(Default)]
pub(crate) struct CellFormats {
    calendar: DateSystem,
    styles: Vec<CellValueKind>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CellValueKind {
    Number,
    Date,
    Time,
    DateTime,
}

impl CellFormats {
    pub(crate) fn read_styles(
        mut markup: MarkupParser<'_>,
        calendar: DateSystem,
    ) -> Result<CellFormats, DocumentReadError> {
        let mut codes: Vec<(String, String)> = Vec::new();
        let mut ids: Vec<String> = Vec::new();
        let mut is_in_styles = false;
        while let Some(mark) = markup.next()? {
            match mark {
                MarkupEvent::Open(element) => match element.name() {
                    "numFmt" if codes.len() < STYLES_MAX => {
                        let code = element.plain_attribute("formatCode").unwrap_or_default();
                        codes.extend(element.plain_attribute("numFmtId").map(|id| (id, code)));
                    }
                    "cellXfs" => is_in_styles = true,
                    "xf" if is_in_styles && ids.len() < STYLES_MAX => {
                        ids.push(element.plain_attribute("numFmtId").unwrap_or_default());
                    }
                    _ => {}
                },
                MarkupEvent::Close(name) if name == "cellXfs" => is_in_styles = false,
                MarkupEvent::Close(_) | MarkupEvent::Text(_) => {}
            }
        }
        Ok(CellFormats::new(calendar, codes, &ids))
    }

    /// Built from the format codes by id, and the format id of each style.
    pub(crate) fn new(
        calendar: DateSystem,
        codes: Vec<(String, String)>,
        ids: &[String],
    ) -> CellFormats {
        let own = codes
            .into_iter()
            .take(STYLES_MAX)
            .map(|(id, code)| (id, CellValueKind::parse_code(&code)));
        let own: HashMap<String, CellValueKind> = own.collect();
        let meaning =
            |id: &String| own.get(id).copied().unwrap_or_else(|| CellValueKind::built_in(id));
        CellFormats { calendar, styles: ids.iter().take(STYLES_MAX).map(meaning).collect() }
    }

    /// Formats a number approximately as Excel shows it, but without rounding.
    pub(crate) fn format_number(&self, number: &str, style: usize) -> String {
        let Ok(value) = number.parse::<f64>() else { return number.to_owned() };
        let meaning = self.styles.get(style).copied().unwrap_or(CellValueKind::Number);
        let shown = match meaning {
            CellValueKind::Number => None,
            CellValueKind::Date => self.format_date(value),
            CellValueKind::Time => Some(format_time(value)),
            CellValueKind::DateTime => {
                self.format_date(value).map(|date| format!("{date} {}", format_time(value)))
            }
        };
        shown.unwrap_or_else(|| format_plain_number(number, value))
    }

    fn format_date(&self, value: f64) -> Option<String> {
        /// 31 December 9999.
        const LAST: f64 = 2_958_465.0;
        /// 1 January 1970, counted from 30 December 1899.
        const EPOCH: i64 = 25_569;
        if !(0.0..=LAST).contains(&value) {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "it is in the range checked above")]
        let day = value.floor() as i64;
        let from_1900 = match self.calendar {
            // Excel treats 1900 as a leap year, so days before its 29 February are one too low.
            DateSystem::From1900 if day < 60 => day + 1,
            DateSystem::From1900 => day,
            DateSystem::From1904 => day + 1_462,
        };
        Some(Timestamp::start_of_day(from_1900 - EPOCH).date())
    }
}

impl CellValueKind {
    /// Excel's built-in format ids.
    fn built_in(id: &str) -> CellValueKind {
        match id.parse::<u16>() {
            Ok(14..=17 | 27..=31 | 36 | 50..=54 | 57..=58) => CellValueKind::Date,
            Ok(18..=21 | 32..=35 | 45 | 47 | 55..=56) => CellValueKind::Time,
            Ok(22) => CellValueKind::DateTime,
            _ => CellValueKind::Number,
        }
    }

    /// Parses a format code such as `yyyy-mm-dd hh:mm`; quoted text and conditions are skipped.
    fn parse_code(code: &str) -> CellValueKind {
        let mut letters = String::new();
        let mut characters = code.chars();
        while let Some(character) = characters.next() {
            match character {
                '"' => drop(characters.by_ref().find(|it| *it == '"')),
                '\\' | '_' | '*' => drop(characters.next()),
                '[' => {
                    let inside: String = characters.by_ref().take_while(|it| *it != ']').collect();
                    let is_duration =
                        matches!(inside.as_str(), "h" | "hh" | "m" | "mm" | "s" | "ss");
                    if is_duration {
                        return CellValueKind::Number;
                    }
                }
                ';' => break,
                _ => letters.push(character.to_ascii_lowercase()),
            }
        }
        let has_time = letters.contains(['h', 's']);
        let has_date = letters.contains(['y', 'd']) || (letters.contains('m') && !has_time);
        match (has_date, has_time) {
            _ if letters.contains("general") => CellValueKind::Number,
            (true, true) => CellValueKind::DateTime,
            (true, false) => CellValueKind::Date,
            (false, true) => CellValueKind::Time,
            (false, false) => CellValueKind::Number,
        }
    }
}

/// Removes binary rounding noise: `2.2999999999999998` becomes 2.3.
fn format_plain_number(number: &str, value: f64) -> String {
    const DIGITS_EXACT: f64 = 1e15;
    let is_short = value == 0.0 || (1e-6..DIGITS_EXACT).contains(&value.abs());
    if is_short { format!("{value}") } else { number.to_owned() }
}

/// Formats the fraction of a day.
fn format_time(value: f64) -> String {
    const DAY_S: f64 = 86_400.0;
    let fraction = value - value.floor();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a fraction of a day has at most 86400 seconds, and casts saturate"
    )]
    let seconds = (fraction * DAY_S).round() as u32;
    format!("{:02}:{:02}:{:02}", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60)
}
