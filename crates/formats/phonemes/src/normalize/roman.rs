//! Roman numerals after words that introduce them: `Chapter IV`, `Henry VIII`.

use std::sync::LazyLock;

use regex::Regex;

use super::rewrite::{compile_pattern, rewrite_matches};
use crate::number::{to_cardinal, to_ordinal};

pub(super) fn read_roman_numerals(text: &str) -> String {
    static PART: LazyLock<Regex> =
        LazyLock::new(|| compile_pattern(&format!(r"\b({})s? ([IVXLC]+)\b", PARTS.join("|"))));
    static RULER: LazyLock<Regex> =
        LazyLock::new(|| compile_pattern(&format!(r"\b({}) ([IVXLC]+)\b", RULERS.join("|"))));
    let text = rewrite_matches(text, &PART, |found| {
        let number = to_cardinal(&parse_roman(found.group(2))?.to_string());
        (!is_word_continued(found.after)).then(|| format!("{} {number}", found.group(1)))
    });
    rewrite_matches(&text, &RULER, |found| {
        let number = to_ordinal(&parse_roman(found.group(2))?.to_string());
        (!is_word_continued(found.after)).then(|| format!("{} the {number}", found.group(1)))
    })
}

/// True for an apostrophe or dot followed by a letter: "King I'm with" has no numeral.
fn is_word_continued(after: &str) -> bool {
    let mut after = after.chars();
    after.next().is_some_and(|it| it == '\'' || it == '.')
        && after.next().is_some_and(char::is_alphabetic)
}

/// The value, if the numeral is in canonical form.
fn parse_roman(numeral: &str) -> Option<u32> {
    let mut rest = numeral;
    let mut value = 0;
    for (sign, worth) in SIGNS {
        while let Some(more) = rest.strip_prefix(sign) {
            rest = more;
            value += worth;
        }
    }
    let canonical = rest.is_empty() && format_roman(value) == numeral;
    canonical.then_some(value)
}

fn format_roman(mut value: u32) -> String {
    let mut numeral = String::new();
    for (sign, worth) in SIGNS {
        while worth <= value {
            numeral.push_str(sign);
            value -= worth;
        }
    }
    numeral
}

const SIGNS: [(&str, u32); 9] = [
    ("C", 100),
    ("XC", 90),
    ("L", 50),
    ("XL", 40),
    ("X", 10),
    ("IX", 9),
    ("V", 5),
    ("IV", 4),
    ("I", 1),
];

const PARTS: [&str; 18] = [
    "[Cc]hapter",
    "[Pp]art",
    "Act",
    "Scene",
    "[Ss]ection",
    "[Vv]olume",
    "[Bb]ook",
    "[Pp]hase",
    "[Aa]rticle",
    "World War",
    "Mark",
    "[Tt]ype",
    "[Ll]evel",
    "[Ss]tage",
    "[Cc]lass",
    "Super Bowl",
    "Apollo",
    "Episode",
];
const RULERS: [&str; 26] = [
    "Pope",
    "King",
    "Queen",
    "Henry",
    "Louis",
    "Edward",
    "George",
    "William",
    "Charles",
    "James",
    "Richard",
    "Elizabeth",
    "Napoleon",
    "Pius",
    "Benedict",
    "Leo",
    "John Paul",
    "Frederick",
    "Philip",
    "Alexander",
    "Nicholas",
    "Peter",
    "Catherine",
    "Ivan",
    "Gustav",
    "Ferdinand",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_romans_would_have_written_is_a_number() {
        let values = ["IV", "XLII", "XCIX", "CCC"].map(parse_roman);
        assert_eq!(values, [Some(4), Some(42), Some(99), Some(300)]);
        assert_eq!(["IIII", "VX", "IC", ""].map(parse_roman), [None, None, None, Some(0)]);
    }
}
