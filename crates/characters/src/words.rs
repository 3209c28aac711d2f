//! Names in addresses, words to search by, and authors without their names.

use sha2::{Digest, Sha256};

const SLUG_CHARS_MAX: usize = 60;
/// Words of one character that it can be found by.
const WORDS_MAX: usize = 300;
const WORD_CHARS_MAX: usize = 40;
pub const SEARCH_TERMS_MAX: usize = 8;
const AUTHOR_CHARS: usize = 5;

/// What a caller searches for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Term {
    /// The beginning of a word.
    Word(String),
    /// A whole tag, which is written `#tag`.
    Tag(String),
}

/// A name as it stands in an address: lower case, digits and hyphens.
pub fn slug(name: &str) -> String {
    let mut slug = String::new();
    for letter in name.chars().flat_map(char::to_lowercase) {
        if letter.is_ascii_alphanumeric() {
            slug.push(letter);
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
        if SLUG_CHARS_MAX <= slug.len() {
            break;
        }
    }
    let slug = slug.trim_end_matches('-').to_owned();
    if slug.is_empty() { "character".to_owned() } else { slug }
}

/// The different words of texts, in lower case.
pub fn words<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut found: Vec<String> = texts.flat_map(split).take(WORDS_MAX).collect();
    found.sort();
    found.dedup();
    found
}

/// What is searched for; every term must be found.
pub fn search_terms(text: &str) -> Vec<Term> {
    let terms = text.split_whitespace().flat_map(|piece| match piece.strip_prefix('#') {
        Some(tag) if !tag.is_empty() => vec![Term::Tag(tag.to_lowercase())],
        _ => split(piece).map(Term::Word).collect(),
    });
    terms.take(SEARCH_TERMS_MAX).collect()
}

fn split(text: &str) -> impl Iterator<Item = String> + '_ {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|it| !it.is_empty());
    words.map(|word| word.to_lowercase().chars().take(WORD_CHARS_MAX).collect())
}

/// Five letters and digits that stand for an author, and tell nothing else.
pub fn anonymous(author: &str) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let digest = Sha256::digest(author.trim().to_lowercase().as_bytes());
    let letters = digest.iter().take(AUTHOR_CHARS);
    letters.map(|byte| char::from(DIGITS[usize::from(*byte) % DIGITS.len()])).collect()
}
