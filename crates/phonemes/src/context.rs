//! What a word can know of the sounds that follow it.

use crate::alphabet::{is_consonant, is_pause, is_vowel};

/// What follows a word. Words are read from the last to the first for its sake.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Following {
    /// Whether the next sound is a vowel; none at a pause or at the end.
    pub(crate) vowel: Option<bool>,
    /// Whether the next word is `to`.
    pub(crate) to: bool,
}

impl Following {
    /// What the word before this one sees.
    pub(crate) fn before(self, word: &str, phonemes: &str) -> Following {
        let sounds = |it: &char| is_vowel(*it) || is_consonant(*it) || is_pause(*it);
        let vowel = match phonemes.chars().find(sounds) {
            Some(first) if is_pause(first) => None,
            Some(first) => Some(is_vowel(first)),
            None => self.vowel,
        };
        Following { vowel, to: word.eq_ignore_ascii_case("to") }
    }
}
