//! Titles and abbreviations: `Dr. Smith`, `approx.`, `No. 5`.

use std::sync::LazyLock;

use regex::Regex;

use super::rewrite::{compile_pattern, rewrite_matches};

pub(super) fn read_abbreviations(text: &str) -> String {
    static TITLE: LazyLock<Regex> = LazyLock::new(|| {
        compile_pattern(&format!(r"\b({})\b\.? ([A-Z])", build_name_pattern(&TITLES)))
    });
    static SHORT: LazyLock<Regex> =
        LazyLock::new(|| compile_pattern(&format!(r"\b({})\.", build_name_pattern(&SHORT_FORMS))));
    static NUMBERED: LazyLock<Regex> = LazyLock::new(|| compile_pattern(r"\b([Nn]os?)\. ?(\d)"));
    static HASH: LazyLock<Regex> = LazyLock::new(|| compile_pattern(r"#(\d)"));
    static WITH: LazyLock<Regex> = LazyLock::new(|| compile_pattern(r"\bw/(o\b)?\s?"));
    let text = rewrite_matches(text, &TITLE, |found| {
        let apart = !found.before.ends_with(['.', '\'']);
        apart.then(|| format!("{} {}", expand_short_form(&TITLES, found.group(1)), found.group(2)))
    });
    let text = rewrite_matches(&text, &NUMBERED, |found| {
        let (short, digit) = (found.group(1), found.group(2));
        let capital = if short.starts_with('N') { "N" } else { "n" };
        let many = if short.ends_with('s') { "s" } else { "" };
        Some(format!("{capital}umber{many} {digit}"))
    });
    let text = rewrite_matches(&text, &SHORT, |found| {
        let apart = !found.before.ends_with('.') && !found.precedes_word();
        // A dot at the end of the line also ends the sentence.
        let dot = if found.after.is_empty() { "." } else { "" };
        apart.then(|| format!("{}{dot}", expand_short_form(&SHORT_FORMS, found.group(1))))
    });
    let text = rewrite_matches(&text, &HASH, |found| {
        let apart = !found.follows_word() && !found.before.ends_with('&');
        apart.then(|| format!("number {}", found.group(1)))
    });
    rewrite_matches(&text, &WITH, |found| {
        Some(if found.has_group(1) { "without " } else { "with " }.to_owned())
    })
}

/// True if a dot after this word does not end a sentence.
pub(crate) fn is_title(word: &str) -> bool {
    TITLES.iter().any(|(short, _)| *short == word)
}

fn build_name_pattern(table: &[(&str, &str)]) -> String {
    let mut names: Vec<&str> = table.iter().map(|it| it.0).collect();
    names.sort_by_key(|it| std::cmp::Reverse(it.len()));
    names.join("|")
}

fn expand_short_form<'w>(table: &[(&'w str, &'w str)], short: &'w str) -> &'w str {
    table.iter().find(|it| it.0 == short).map_or(short, |it| it.1)
}

/// Expanded before a name. Unchanged ones are in the dictionary.
const TITLES: [(&str, &str); 26] = [
    ("Mr", "Mr"),
    ("Mrs", "Mrs"),
    ("Ms", "Miz"),
    ("Dr", "Dr"),
    ("Prof", "Professor"),
    ("St", "Saint"),
    ("Mt", "Mount"),
    ("Ft", "Fort"),
    ("Gen", "General"),
    ("Gov", "Governor"),
    ("Sen", "Senator"),
    ("Rep", "Representative"),
    ("Capt", "Captain"),
    ("Lt", "Lieutenant"),
    ("Col", "Colonel"),
    ("Sgt", "Sergeant"),
    ("Cmdr", "Commander"),
    ("Cpl", "Corporal"),
    ("Maj", "Major"),
    ("Adm", "Admiral"),
    ("Rev", "Reverend"),
    ("Hon", "Honorable"),
    ("Fr", "Father"),
    ("Pres", "President"),
    ("Supt", "Superintendent"),
    ("Msgr", "Monsignor"),
];

/// Expanded if a dot follows.
const SHORT_FORMS: [(&str, &str); 55] = [
    ("Mr", "Mr"),
    ("Mrs", "Mrs"),
    ("Ms", "Miz"),
    ("Dr", "Dr"),
    ("Jr", "Junior"),
    ("Sr", "Senior"),
    ("St", "Street"),
    ("Ave", "Avenue"),
    ("Blvd", "Boulevard"),
    ("Rd", "Road"),
    ("Hwy", "Highway"),
    ("Apt", "Apartment"),
    ("Bldg", "Building"),
    ("Dept", "Department"),
    ("Univ", "University"),
    ("Assn", "Association"),
    ("Govt", "Government"),
    ("Atty", "Attorney"),
    ("Ltd", "Limited"),
    ("Inc", "Incorporated"),
    ("Corp", "Corporation"),
    ("Co", "Company"),
    ("Bros", "Brothers"),
    ("approx", "approximately"),
    ("est", "established"),
    ("etc", "etc"),
    ("vs", "versus"),
    ("cf", "compare"),
    ("vol", "volume"),
    ("Vol", "Volume"),
    ("fig", "figure"),
    ("Fig", "Figure"),
    ("ch", "chapter"),
    ("Ch", "Chapter"),
    ("pp", "pages"),
    ("Jan", "January"),
    ("Feb", "February"),
    ("Mar", "March"),
    ("Apr", "April"),
    ("Jun", "June"),
    ("Jul", "July"),
    ("Aug", "August"),
    ("Sep", "September"),
    ("Sept", "September"),
    ("Oct", "October"),
    ("Nov", "November"),
    ("Dec", "December"),
    ("Mon", "Monday"),
    ("Tue", "Tuesday"),
    ("Tues", "Tuesday"),
    ("Wed", "Wednesday"),
    ("Thu", "Thursday"),
    ("Thurs", "Thursday"),
    ("Fri", "Friday"),
    ("al", "al"),
];
