//! Splits text into sentences.

use crate::normalize::is_title;

/// The trimmed sentences of a text. A line break also ends a sentence.
pub fn split_sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    for line in text.lines() {
        let mut rest = line.trim();
        while let Some(end) = end_of_sentence(rest) {
            let (sentence, more) = rest.split_at(end);
            sentences.push(sentence.trim_end());
            rest = more.trim_start();
        }
        if !rest.is_empty() {
            sentences.push(rest);
        }
    }
    sentences
}

/// The end of the first sentence, if another follows.
fn end_of_sentence(text: &str) -> Option<usize> {
    let is_end = |it: char| ".!?…".contains(it);
    let mut from = 0;
    while let Some(found) = text[from..].find(is_end) {
        let dot = from + found;
        let after = text[dot..].trim_start_matches(is_end);
        let closed = after.trim_start_matches(|it: char| "\"”’')]".contains(it));
        let end = text.len() - closed.len();
        let next = closed.trim_start();
        if next.is_empty() {
            return None;
        }
        let apart = next.len() < closed.len();
        let goes_on = next.starts_with(char::is_lowercase);
        if apart && !goes_on && !is_abbreviation(&text[..dot], text[dot..].starts_with(". ")) {
            return Some(end);
        }
        from = end;
    }
    None
}

/// True if the dot after this belongs to a title or an initial: "Dr. Smith", "J. K. Rowling".
fn is_abbreviation(before: &str, single_dot: bool) -> bool {
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let word = word.trim_start_matches(|it: char| "(\"“'‘".contains(it));
    let mut letters = word.chars();
    let is_initial = letters.next().is_some_and(char::is_uppercase) && letters.next().is_none();
    single_dot && (is_initial || is_title(word))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(split_sentences(text), expected);
    }

    #[test]
    fn a_sentence_ends_with_its_mark_and_the_quotes_after_it() {
        check("One. Two! Three? Four", &["One.", "Two!", "Three?", "Four"]);
        check("\"Go away.\" He left...  Silence.", &["\"Go away.\"", "He left...", "Silence."]);
    }

    #[test]
    fn titles_initials_and_numbers_do_not_end_a_sentence() {
        check("Dr. Smith met J. K. Rowling.", &["Dr. Smith met J. K. Rowling."]);
        check("It costs 3.50 dollars. Cheap.", &["It costs 3.50 dollars.", "Cheap."]);
        check("Use e.g. a dog. Or a cat.", &["Use e.g. a dog.", "Or a cat."]);
    }

    #[test]
    fn lines_end_sentences_and_empty_ones_vanish() {
        check("Title\n\n  Text.\r\nMore", &["Title", "Text.", "More"]);
        check(" \n ", &[]);
    }

    proptest! {
        #[test]
        fn no_letter_is_lost(text in "[ \na-zA-Z.!?\"'…]{0,80}") {
            let kept: String = split_sentences(&text).concat().split_whitespace().collect();
            let expected: String = text.split_whitespace().collect();
            prop_assert_eq!(kept, expected);
        }
    }
}
