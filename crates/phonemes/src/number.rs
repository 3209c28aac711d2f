//! Numbers as words. Digits are strings, so that no number is too large.

/// "one hundred twenty three". Numbers too long to name are read digit by digit.
pub(crate) fn cardinal(digits: &str) -> String {
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return SMALL[0].to_owned();
    }
    if NAMED_DIGITS_MAX < significant.len() {
        return spelled(digits);
    }
    let mut words = Vec::new();
    let groups = significant.len().div_ceil(3);
    let mut rest = significant;
    for group in (0..groups).rev() {
        let (head, tail) = rest.split_at(rest.len() - 3 * group);
        let value = head.parse().unwrap_or(0);
        if value != 0 {
            words.extend(below_thousand(value));
            words.extend(SCALES[group]);
        }
        rest = tail;
    }
    words.join(" ")
}

/// "one hundred twenty third".
pub(crate) fn ordinal(digits: &str) -> String {
    let words = cardinal(digits);
    let (head, last) = words.rsplit_once(' ').map_or(("", words.as_str()), |it| it);
    let irregular = ORDINALS.iter().find(|(cardinal, _)| *cardinal == last);
    let last = match (irregular, last.strip_suffix('y')) {
        (Some((_, ordinal)), _) => (*ordinal).to_owned(),
        (None, Some(stem)) => format!("{stem}ieth"),
        (None, None) => format!("{last}th"),
    };
    if head.is_empty() { last } else { format!("{head} {last}") }
}

/// Four digits in pairs: "nineteen eighty four", "nineteen oh five", "two thousand five".
pub(crate) fn year(digits: &str) -> String {
    let (century, rest) = digits.split_at(digits.len().saturating_sub(2));
    let is_round = century.ends_with('0') && rest.starts_with('0');
    if century.trim_start_matches('0').is_empty() || is_round {
        return cardinal(digits);
    }
    let rest = match rest.strip_prefix('0') {
        Some("0") => "hundred".to_owned(),
        Some(unit) => format!("oh {}", cardinal(unit)),
        None => cardinal(rest),
    };
    format!("{} {rest}", cardinal(century))
}

/// The number of a road, flight or model, as people say it: "seven forty seven", "one oh five";
/// long ones digit by digit.
pub(crate) fn code(digits: &str) -> String {
    match digits.as_bytes() {
        [b'0', ..] | [_, _, _, _, ..] => spelled(digits),
        [_, b'0', b'0'] => cardinal(digits),
        [_, b'0', _] => format!("{} oh {}", cardinal(&digits[..1]), cardinal(&digits[2..])),
        [_, _, _] => format!("{} {}", cardinal(&digits[..1]), cardinal(&digits[1..])),
        _ => cardinal(digits),
    }
}

/// Each digit by its name.
pub(crate) fn spelled(digits: &str) -> String {
    let names: Vec<&str> = digits.bytes().filter_map(digit).collect();
    names.join(" ")
}

/// The words of the decimals without trailing zeros; `None` if nothing is left.
pub(crate) fn fraction(digits: &str) -> Option<String> {
    let significant = digits.trim_end_matches('0');
    (!significant.is_empty()).then(|| format!("point {}", spelled(significant)))
}

fn digit(digit: u8) -> Option<&'static str> {
    let value = digit.checked_sub(b'0')?;
    SMALL.get(usize::from(value)).copied().filter(|_| value <= 9)
}

fn below_thousand(value: usize) -> Vec<&'static str> {
    let mut words = Vec::new();
    if 100 <= value {
        words.extend([SMALL[value / 100], "hundred"]);
    }
    let rest = value % 100;
    if 20 <= rest {
        words.push(TENS[rest / 10]);
    }
    let unit = if 20 <= rest { rest % 10 } else { rest };
    if unit != 0 {
        words.push(SMALL[unit]);
    }
    words
}

const SMALL: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 10] =
    ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const SCALES: [Option<&str>; 8] = [
    None,
    Some("thousand"),
    Some("million"),
    Some("billion"),
    Some("trillion"),
    Some("quadrillion"),
    Some("quintillion"),
    Some("sextillion"),
];
const NAMED_DIGITS_MAX: usize = 3 * SCALES.len();
const ORDINALS: [(&str, &str); 7] = [
    ("one", "first"),
    ("two", "second"),
    ("three", "third"),
    ("five", "fifth"),
    ("eight", "eighth"),
    ("nine", "ninth"),
    ("twelve", "twelfth"),
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(read: fn(&str) -> String, digits: &str, expected: &str) {
        assert_eq!(read(digits), expected);
    }

    #[test]
    fn cardinals_name_every_group_of_three() {
        check(cardinal, "0", "zero");
        check(cardinal, "17", "seventeen");
        check(cardinal, "40", "forty");
        check(cardinal, "101", "one hundred one");
        check(cardinal, "1000", "one thousand");
        check(cardinal, "1000016", "one million sixteen");
        check(
            cardinal,
            "987654321",
            "nine hundred eighty seven million six hundred fifty four thousand three hundred twenty one",
        );
    }

    #[test]
    fn a_number_without_a_name_is_spelled() {
        check(cardinal, &"1".repeat(25), &vec!["one"; 25].join(" "));
    }

    #[test]
    fn ordinals_change_the_last_word() {
        check(ordinal, "1", "first");
        check(ordinal, "12", "twelfth");
        check(ordinal, "20", "twentieth");
        check(ordinal, "23", "twenty third");
        check(ordinal, "100", "one hundredth");
    }

    #[test]
    fn years_are_read_in_pairs() {
        check(year, "1984", "nineteen eighty four");
        check(year, "1905", "nineteen oh five");
        check(year, "1900", "nineteen hundred");
        check(year, "2000", "two thousand");
        check(year, "2005", "two thousand five");
        check(year, "2026", "twenty twenty six");
        check(year, "0042", "forty two");
    }

    #[test]
    fn codes_are_read_as_people_say_them() {
        check(code, "747", "seven forty seven");
        check(code, "105", "one oh five");
        check(code, "300", "three hundred");
        check(code, "007", "zero zero seven");
        check(code, "52", "fifty two");
        check(code, "8080", "eight zero eight zero");
    }

    #[test]
    fn a_fraction_ends_with_its_last_digit_that_counts() {
        assert_eq!(fraction("140").as_deref(), Some("point one four"));
        assert_eq!(fraction("00"), None);
    }

    proptest! {
        #[test]
        fn any_digits_are_read_as_words(digits in "[0-9]{1,60}") {
            for read in [cardinal, ordinal, year, code, spelled] {
                let words = read(&digits);
                prop_assert!(!words.is_empty());
                prop_assert!(words.chars().all(|it| it == ' ' || it.is_ascii_lowercase()));
                prop_assert!(!words.contains("  "));
            }
        }
    }
}
