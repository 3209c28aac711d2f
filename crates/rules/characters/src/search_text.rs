//! Slugs, search words and anonymized author names.

use sha2::{Digest, Sha256};

const SLUG_CHARS_MAX: usize = 60;
/// Limit of search words per character.
const WORDS_MAX: usize = 300;
const WORD_CHARS_MAX: usize = 40;
pub const SEARCH_TERMS_MAX: usize = 8;
const AUTHOR_CHARS: usize = 5;

/// A term of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchTerm {
    /// The prefix of a word.
    Word(String),
    /// A whole tag, written `#tag`.
    Tag(String),
}

/// Converts a name to a slug: lower case letters, digits and hyphens.
pub fn to_slug(name: &str) -> String {
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

/// Returns the distinct words of texts, in lower case.
pub fn list_words<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut found: Vec<String> = texts.flat_map(split_words).take(WORDS_MAX).collect();
    found.sort();
    found.dedup();
    found
}

/// Parses the terms of a search, all of which must match.
pub fn search_terms(text: &str) -> Vec<SearchTerm> {
    let terms = text.split_whitespace().flat_map(|piece| match piece.strip_prefix('#') {
        Some(tag) if !tag.is_empty() => vec![SearchTerm::Tag(tag.to_lowercase())],
        _ => split_words(piece).map(SearchTerm::Word).collect(),
    });
    terms.take(SEARCH_TERMS_MAX).collect()
}

fn split_words(text: &str) -> impl Iterator<Item = String> + '_ {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|it| !it.is_empty());
    words.map(|word| word.to_lowercase().chars().take(WORD_CHARS_MAX).collect())
}

/// Returns five characters that identify an author without revealing the name.
pub fn anonymize_author(author: &str) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let digest = Sha256::digest(author.trim().to_lowercase().as_bytes());
    let letters = digest.iter().take(AUTHOR_CHARS);
    letters.map(|byte| char::from(DIGITS[usize::from(*byte) % DIGITS.len()])).collect()
}
