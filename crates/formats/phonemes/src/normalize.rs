//! Converts written text to spoken words: numbers, money, dates, times, units, abbreviations,
//! addresses and signs.

mod abbreviation;
mod address;
mod clock;
mod date;
mod measure;
mod money;
mod numeral;
mod rewrite;
mod roman;
mod sign;

use unicode_normalization::UnicodeNormalization;

pub(crate) use abbreviation::is_title;

/// One line of words and punctuation. The order of rules matters: each sees the output of those
/// before it.
pub fn normalize_text(text: &str) -> String {
    let composed: String = text.nfc().map(unify_character).collect();
    let mut text = collapse_spaces(&composed);
    for rule in RULES {
        text = rule(&text);
    }
    trim_punctuation_spaces(&text)
}

const RULES: [fn(&str) -> String; 10] = [
    address::read_addresses,
    clock::read_times,
    date::read_dates,
    money::read_amounts,
    measure::read_measures,
    abbreviation::read_abbreviations,
    roman::read_roman_numerals,
    numeral::read_numerals,
    sign::read_signs,
    collapse_spaces,
];

/// Unifies characters that look alike.
fn unify_character(character: char) -> char {
    match character {
        '’' | '‘' | 'ʼ' => '\'',
        '‐' | '‑' | '‒' | '−' => '-',
        '―' => '—',
        it if it.is_whitespace() || it.is_control() => ' ',
        it => it,
    }
}

fn collapse_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Removes spaces before punctuation, which replaced signs may leave.
fn trim_punctuation_spaces(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    for character in text.chars() {
        if ",.;:!?".contains(character) && tidy.ends_with(' ') {
            tidy.pop();
        }
        tidy.push(character);
    }
    tidy
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(normalize_text(text), expected);
    }

    #[test]
    fn plain_text_stays_as_it_is() {
        check("  The quick\tbrown\nfox, isn’t it?  ", "The quick brown fox, isn't it?");
    }

    #[test]
    fn times_are_read() {
        check("At 9:30am or 14:05.", "At nine thirty A.M. or fourteen oh five.");
        check("Noon is 12:00.", "Noon is twelve o'clock.");
        check("It took 1:02:03 at 7 pm", "It took one oh two and three seconds at seven P.M.");
        check("A ratio of 99:99", "A ratio of ninety nine:ninety nine");
    }

    #[test]
    fn dates_are_read() {
        check("2024-03-05", "March fifth, twenty twenty four");
        check("on 7/4/1976", "on July fourth, nineteen seventy six");
        check("Jan. 5th, 2019", "January fifth, twenty nineteen");
        check("5 May 2020", "the fifth of May twenty twenty");
        check("the 3rd of March 2024", "the third of March twenty twenty four");
        check(
            "It is 3 Jan. today, not 4 June.",
            "It is the third of January today, not the fourth of June.",
        );
        check("13/45/2020", "thirteen slash forty five slash twenty twenty");
    }

    #[test]
    fn money_is_read() {
        check("$9.99", "nine dollars and ninety nine cents");
        check("$1", "one dollar");
        check("$1,250", "one thousand two hundred fifty dollars");
        check("$2000", "two thousand dollars");
        check("£3.2 billion", "three point two billion pounds");
        check("$5M deal", "five million dollars deal");
        check("€0.50 or 20¢", "fifty cents or twenty cents");
        check("¥500, 20 USD", "five hundred yen, twenty dollars");
    }

    #[test]
    fn measures_are_read() {
        check("5km at 20°C", "five kilometers at twenty degrees Celsius");
        check("1 kg, 3.5 GHz", "one kilogram, three point five gigahertz");
        check("50% of 1 min", "fifty percent of one minute");
        check("-5°", "minus five degrees");
    }

    #[test]
    fn abbreviations_are_read() {
        check(
            "Dr. Smith of St. Paul vs. Mr. Jones Jr.",
            "Dr Smith of Saint Paul versus Mr Jones Junior.",
        );
        check("approx. No. 5, #3", "approximately Number five, number three");
        check("Main St. is long, etc.", "Main Street is long, etc.");
    }

    #[test]
    fn roman_numerals_are_read_where_they_are_expected() {
        check("Henry VIII in Chapter IV", "Henry the eighth in Chapter four");
        check("I am in World War II", "I am in World War two");
    }

    #[test]
    fn numbers_are_read() {
        check(
            "1,234,567 people",
            "one million two hundred thirty four thousand five hundred sixty seven people",
        );
        check(
            "In 1999, the 1990s and the 80's",
            "In nineteen ninety nine, the nineteen nineties and the eighties",
        );
        check("21st, 3rd, 100th", "twenty first, third, one hundredth");
        check("3.14 and .5 and -2", "three point one four and point five and minus two");
        check("1/2 and 3/4", "one half and three quarters");
        check("pages 2-3", "pages two to three");
        check("555-123-4567", "five five five, one two three, four five six seven");
        check("version 1.2.3", "version one point two point three");
    }

    #[test]
    fn numbers_in_names_are_read_as_people_say_them() {
        check("Boeing-747, COVID-19, MP3", "Boeing seven forty seven, COVID nineteen, MP three");
        check("B2B, 3D, 5G, 4x4", "B to B, three D, five G, four x four");
    }

    #[test]
    fn addresses_are_read() {
        check("See https://www.example.com/a.", "See w w w dot example dot com slash a.");
        check("me@example.org", "me at example dot org");
    }

    #[test]
    fn signs_are_read_or_dropped() {
        check("2 + 2 = 4", "two plus two equals four");
        check("*bold* and _this_", "bold and this");
        check("a < b & c", "a less than b & c");
        check("©2020 x²", "copyright twenty twenty x squared");
    }

    proptest! {
        #[test]
        fn any_text_becomes_one_line_without_digits(text in "\\PC{0,80}") {
            let line = normalize_text(&text);
            prop_assert!(!line.contains("  ") && !line.contains('\n'));
            prop_assert!(!line.contains(|it: char| it.is_ascii_digit()), "{}", line);
        }

        #[test]
        fn any_digits_among_signs_are_read(text in "[0-9 .,:/$%#+x°'-]{0,40}") {
            prop_assert!(!normalize_text(&text).contains(|it: char| it.is_ascii_digit()));
        }
    }
}
