//! Numbers as words. Digits are strings, so that no number is too large.

/// "one hundred twenty three". Numbers too long to name are read digit by digit.
pub(crate) fn to_cardinal(digits: &str) -> String {
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return SMALL[0].to_owned();
    }
    if NAMED_DIGITS_MAX < significant.len() {
        return spell_digits(digits);
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
pub(crate) fn to_ordinal(digits: &str) -> String {
    let words = to_cardinal(digits);
    let (head, last) = words.rsplit_once(' ').map_or(("", words.as_str()), |it| it);
    let irregular = ORDINALS.iter().find(|(to_cardinal, _)| *to_cardinal == last);
    let last = match (irregular, last.strip_suffix('y')) {
        (Some((_, to_ordinal)), _) => (*to_ordinal).to_owned(),
        (None, Some(stem)) => format!("{stem}ieth"),
        (None, None) => format!("{last}th"),
    };
    if head.is_empty() { last } else { format!("{head} {last}") }
}

/// Four digits in pairs: "nineteen eighty four", "nineteen oh five", "two thousand five".
pub(crate) fn to_year(digits: &str) -> String {
    let (century, rest) = digits.split_at(digits.len().saturating_sub(2));
    let is_round = century.ends_with('0') && rest.starts_with('0');
    if century.trim_start_matches('0').is_empty() || is_round {
        return to_cardinal(digits);
    }
    let rest = match rest.strip_prefix('0') {
        Some("0") => "hundred".to_owned(),
        Some(unit) => format!("oh {}", to_cardinal(unit)),
        None => to_cardinal(rest),
    };
    format!("{} {rest}", to_cardinal(century))
}

/// The number of a road, flight or model, as people say it: "seven forty seven", "one oh five";
/// long ones digit by digit.
pub(crate) fn to_code(digits: &str) -> String {
    match digits.as_bytes() {
        [b'0', ..] | [_, _, _, _, ..] => spell_digits(digits),
        [_, b'0', b'0'] => to_cardinal(digits),
        [_, b'0', _] => format!("{} oh {}", to_cardinal(&digits[..1]), to_cardinal(&digits[2..])),
        [_, _, _] => format!("{} {}", to_cardinal(&digits[..1]), to_cardinal(&digits[1..])),
        _ => to_cardinal(digits),
    }
}

/// Each digit by its name.
pub(crate) fn spell_digits(digits: &str) -> String {
    let names: Vec<&str> = digits.bytes().filter_map(digit_name).collect();
    names.join(" ")
}

/// The words of the decimals without trailing zeros; `None` if nothing is left.
pub(crate) fn to_decimals(digits: &str) -> Option<String> {
    let significant = digits.trim_end_matches('0');
    (!significant.is_empty()).then(|| format!("point {}", spell_digits(significant)))
}

fn digit_name(digit: u8) -> Option<&'static str> {
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
        check(to_cardinal, "0", "zero");
        check(to_cardinal, "17", "seventeen");
        check(to_cardinal, "40", "forty");
        check(to_cardinal, "101", "one hundred one");
        check(to_cardinal, "1000", "one thousand");
        check(to_cardinal, "1000016", "one million sixteen");
        check(
            to_cardinal,
            "987654321",
            "nine hundred eighty seven million six hundred fifty four thousand three hundred twenty one",
        );
    }

    #[test]
    fn a_number_without_a_name_is_spelled() {
        check(to_cardinal, &"1".repeat(25), &vec!["one"; 25].join(" "));
    }

    #[test]
    fn ordinals_change_the_last_word() {
        check(to_ordinal, "1", "first");
        check(to_ordinal, "12", "twelfth");
        check(to_ordinal, "20", "twentieth");
        check(to_ordinal, "23", "twenty third");
        check(to_ordinal, "100", "one hundredth");
    }

    #[test]
    fn years_are_read_in_pairs() {
        check(to_year, "1984", "nineteen eighty four");
        check(to_year, "1905", "nineteen oh five");
        check(to_year, "1900", "nineteen hundred");
        check(to_year, "2000", "two thousand");
        check(to_year, "2005", "two thousand five");
        check(to_year, "2026", "twenty twenty six");
        check(to_year, "0042", "forty two");
    }

    #[test]
    fn codes_are_read_as_people_say_them() {
        check(to_code, "747", "seven forty seven");
        check(to_code, "105", "one oh five");
        check(to_code, "300", "three hundred");
        check(to_code, "007", "zero zero seven");
        check(to_code, "52", "fifty two");
        check(to_code, "8080", "eight zero eight zero");
    }

    #[test]
    fn a_fraction_ends_with_its_last_digit_that_counts() {
        assert_eq!(to_decimals("140").as_deref(), Some("point one four"));
        assert_eq!(to_decimals("00"), None);
    }

    proptest! {
        #[test]
        fn any_digits_are_read_as_words(digits in "[0-9]{1,60}") {
            for read in [to_cardinal, to_ordinal, to_year, to_code, spell_digits] {
                let words = read(&digits);
                prop_assert!(!words.is_empty());
                prop_assert!(words.chars().all(|it| it == ' ' || it.is_ascii_lowercase()));
                prop_assert!(!words.contains("  "));
            }
        }
    }
}
