//! The context that follows a word.

use crate::alphabet::{is_consonant, is_pause, is_vowel};

/// The sounds after a word. Words are processed from last to first to know them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FollowingSound {
    /// True if the next sound is a vowel; `None` at a pause or the end.
    pub(crate) vowel: Option<bool>,
    /// True if the next word is `to`.
    pub(crate) to: bool,
}

impl FollowingSound {
    /// The context of the word before this one.
    pub(crate) fn before_word(self, word: &str, phonemes: &str) -> FollowingSound {
        let sounds = |it: &char| is_vowel(*it) || is_consonant(*it) || is_pause(*it);
        let vowel = match phonemes.chars().find(sounds) {
            Some(first) if is_pause(first) => None,
            Some(first) => Some(is_vowel(first)),
            None => self.vowel,
        };
        FollowingSound { vowel, to: word.eq_ignore_ascii_case("to") }
    }
}
