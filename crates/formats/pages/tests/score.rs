//! Scores the extracted text of many kinds of pages against reference texts.
//!
//! Texts are compared as multisets of four-word sequences. Single words would be too lenient: a
//! menu has words of the article as well, and reordered posts of a thread have the same words. In
//! Japanese and Chinese, which have no spaces, a character counts as a word.

#![expect(clippy::expect_used, reason = "a fixture that cannot be read fails its test")]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

const ADDRESS: &str = "https://site.example.com/section/page";
/// Length of the compared sequences, in words.
const RUN_WORDS: usize = 4;

/// Slightly below each page's score when the rules were last changed.
const FLOORS: [(&str, f64); 23] = [
    ("article-arabic", 0.96),
    ("article-japanese", 0.97),
    ("blog-german", 0.97),
    ("docs-docusaurus", 0.97),
    ("docs-manpage", 0.95),
    ("docs-rustdoc", 0.85),
    ("docs-sphinx", 0.97),
    ("figures", 0.94),
    ("forum-discourse", 0.91),
    ("forum-phpbb", 0.92),
    ("front-page", 0.96),
    ("job-posting", 0.93),
    ("landing", 0.98),
    ("lists", 0.97),
    ("news-liveblog", 0.94),
    ("news-wordpress", 0.97),
    ("old-tables", 0.93),
    ("question-answers", 0.85),
    ("recipe-french", 0.89),
    ("release-notes", 0.91),
    ("shop-category", 0.96),
    ("shop-product", 0.91),
    ("wiki", 0.96),
];
const AVERAGE_FLOOR: f64 = 0.94;

struct Score {
    name: String,
    precision: f64,
    recall: f64,
    f1: f64,
}

#[test]
fn pages_of_every_kind_are_told_whole_and_without_their_frame() {
    let scores = scores(ours);
    let names: Vec<&str> = scores.iter().map(|score| score.name.as_str()).collect();
    assert_eq!(names, FLOORS.map(|(name, _)| name), "every page has a floor");
    for (Score { name, precision, recall, f1 }, (_, floor)) in scores.iter().zip(FLOORS) {
        assert!(floor <= *f1, "{name}: {f1:.3} (precision {precision:.3}, recall {recall:.3})");
    }
    let average = average(&scores);
    assert!(AVERAGE_FLOOR <= average, "{average:.3}");
}

/// Prints the score of each page; docs/benchmarks.md has the averages.
#[test]
fn the_average_is_above_that_of_trafilatura() {
    let (ours, plain) = (scores(ours), scores(|name| theirs("trafilatura", name)));
    let recall = scores(|name| theirs("trafilatura-recall", name));
    for ((ours, plain), recall) in ours.iter().zip(&plain).zip(&recall) {
        println!("| {} | {:.2} | {:.2} | {:.2} |", ours.name, ours.f1, plain.f1, recall.f1);
    }
    let [ours, plain, recall] = [ours, plain, recall].map(|scores| average(&scores));
    println!("| average | {ours:.2} | {plain:.2} | {recall:.2} |");
    assert!(plain < ours && recall < ours);
}

fn average(scores: &[Score]) -> f64 {
    scores.iter().map(|score| score.f1).sum::<f64>() / scores.len() as f64
}

/// The text that the service extracts.
fn ours(name: &str) -> String {
    let bytes = fs::read(fixtures().join(format!("{name}.html"))).expect("the page can be read");
    let html = pages::decode_html(&bytes, Some("text/html"));
    pages::read_page(&html, ADDRESS).expect("the page has a text").markdown
}

/// The text that `others.py` wrote.
fn theirs(folder: &str, name: &str) -> String {
    let path = fixtures().join(folder).join(format!("{name}.txt"));
    fs::read_to_string(path).expect("the other's text can be read")
}

fn scores(markdown_of: impl Fn(&str) -> String) -> Vec<Score> {
    let entries = fs::read_dir(fixtures()).expect("the fixtures can be listed");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("the fixtures can be listed").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "html"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    names.into_iter().map(|name| score(&markdown_of(&name), name)).collect()
}

fn score(markdown: &str, name: String) -> Score {
    let reference = fs::read_to_string(fixtures().join(format!("{name}.txt")));
    let wanted = words(&reference.expect("the page has a reference"));
    let found = words(&without_marks(markdown));
    let mut left: HashMap<&[String], usize> = HashMap::new();
    for run in wanted.windows(RUN_WORDS) {
        *left.entry(run).or_default() += 1;
    }
    let mut common = 0_usize;
    for run in found.windows(RUN_WORDS) {
        if let Some(count) = left.get_mut(run).filter(|count| 0 < **count) {
            *count -= 1;
            common += 1;
        }
    }
    let share = |words: &[String]| common as f64 / words.windows(RUN_WORDS).len().max(1) as f64;
    let (precision, recall) = (share(&found), share(&wanted));
    let f1 = 2.0 * precision * recall / (precision + recall).max(f64::MIN_POSITIVE);
    Score { name, precision, recall, f1 }
}

/// Removes Markdown that the references do not have: images, link targets, list numbers and
/// languages of code blocks.
fn without_marks(markdown: &str) -> String {
    let lines = markdown.lines().map(|line| {
        let line = line.trim_start();
        let numbered = line.trim_start_matches(|character: char| character.is_ascii_digit());
        if line.starts_with("```") { "" } else { numbered.strip_prefix(". ").unwrap_or(line) }
    });
    let markdown = lines.collect::<Vec<_>>().join("\n");
    let mut kept = String::new();
    let mut rest = markdown.as_str();
    while let Some(at) = rest.find("](") {
        let text = &rest[..at];
        kept.push_str(text.rfind("![").map_or(text, |picture| &text[..picture]));
        rest = &rest[at + 2..];
        rest = rest.find(')').map_or("", |end| &rest[end + 1..]);
    }
    kept + rest
}

fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for character in text.chars() {
        let is_word_alone = matches!(character, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}');
        if is_word_alone || !character.is_alphanumeric() {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        }
        if is_word_alone {
            words.push(character.to_string());
        } else if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}
