//! Numbers with a unit: `5km`, `20 °C`, `3.5 GHz`, `50%`.

use std::sync::LazyLock;

use regex::Regex;

use super::rewrite::{NUMBER, PatternMatch, compile_pattern, rewrite_matches};

/// The number itself is left to the numeral rule.
pub(super) fn read_measures(text: &str) -> String {
    static DEGREES: LazyLock<Regex> =
        LazyLock::new(|| compile_pattern(&format!(r"(-?{NUMBER})\s?°\s?([CF]\b)?")));
    static PERCENT: LazyLock<Regex> =
        LazyLock::new(|| compile_pattern(&format!(r"({NUMBER})\s?%")));
    static UNIT: LazyLock<Regex> = LazyLock::new(|| {
        let mut names: Vec<String> = UNITS.iter().map(|it| regex::escape(it.0)).collect();
        // Longer ones first, or `m` would match in `mph`.
        names.sort_by_key(|it| std::cmp::Reverse(it.len()));
        compile_pattern(&format!(r"(-?{NUMBER})\s?({})\b", names.join("|")))
    });
    let text = rewrite_matches(text, &DEGREES, |found| {
        let scale = match found.group(2) {
            "C" => " Celsius",
            "F" => " Fahrenheit",
            _ => "",
        };
        let degrees = pick_plural(found.group(1), "degree", "degrees");
        is_separate(found).then(|| format!("{} {degrees}{scale}", found.group(1)))
    });
    let text =
        rewrite_matches(&text, &PERCENT, |found| Some(format!("{} percent", found.group(1))));
    rewrite_matches(&text, &UNIT, |found| {
        let (_, one, many) = UNITS.iter().find(|it| it.0 == found.group(2))?;
        let name = pick_plural(found.group(1), one, many);
        let goes_on = found.after.starts_with(['/', '²', '³']);
        (is_separate(found) && !goes_on).then(|| format!("{} {name}", found.group(1)))
    })
}

fn is_separate(found: &PatternMatch<'_>) -> bool {
    !found.follows_word() && !found.before.ends_with(['.', '-'])
}

fn pick_plural<'w>(number: &str, one: &'w str, many: &'w str) -> &'w str {
    if matches!(number, "1" | "-1" | "1.0") { one } else { many }
}

/// Symbol of a unit, with its singular and plural name.
const UNITS: [(&str, &str, &str); 46] = [
    ("km", "kilometer", "kilometers"),
    ("cm", "centimeter", "centimeters"),
    ("mm", "millimeter", "millimeters"),
    ("nm", "nanometer", "nanometers"),
    ("µm", "micrometer", "micrometers"),
    ("kg", "kilogram", "kilograms"),
    ("mg", "milligram", "milligrams"),
    ("µg", "microgram", "micrograms"),
    ("lb", "pound", "pounds"),
    ("lbs", "pounds", "pounds"),
    ("oz", "ounce", "ounces"),
    ("ft", "foot", "feet"),
    ("yd", "yard", "yards"),
    ("mi", "mile", "miles"),
    ("sq ft", "square foot", "square feet"),
    ("sq mi", "square mile", "square miles"),
    ("ml", "milliliter", "milliliters"),
    ("cc", "cubic centimeter", "cubic centimeters"),
    ("km/h", "kilometer per hour", "kilometers per hour"),
    ("kph", "kilometer per hour", "kilometers per hour"),
    ("mph", "mile per hour", "miles per hour"),
    ("Hz", "hertz", "hertz"),
    ("kHz", "kilohertz", "kilohertz"),
    ("MHz", "megahertz", "megahertz"),
    ("GHz", "gigahertz", "gigahertz"),
    ("kB", "kilobyte", "kilobytes"),
    ("KB", "kilobyte", "kilobytes"),
    ("MB", "megabyte", "megabytes"),
    ("GB", "gigabyte", "gigabytes"),
    ("TB", "terabyte", "terabytes"),
    ("Mbps", "megabit per second", "megabits per second"),
    ("Gbps", "gigabit per second", "gigabits per second"),
    ("fps", "frame per second", "frames per second"),
    ("ms", "millisecond", "milliseconds"),
    ("sec", "second", "seconds"),
    ("secs", "second", "seconds"),
    ("min", "minute", "minutes"),
    ("mins", "minute", "minutes"),
    ("hr", "hour", "hours"),
    ("hrs", "hour", "hours"),
    ("kW", "kilowatt", "kilowatts"),
    ("MW", "megawatt", "megawatts"),
    ("GW", "gigawatt", "gigawatts"),
    ("kWh", "kilowatt hour", "kilowatt hours"),
    ("mAh", "milliamp hour", "milliamp hours"),
    ("pct", "percent", "percent"),
];
