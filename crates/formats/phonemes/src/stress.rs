//! Word stress, and its changes by context.

use crate::alphabet::{PRIMARY, SECONDARY, is_vowel};

/// A change of a word's stress by its context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StressChange {
    /// As in the dictionary.
    AsWritten,
    /// Reduced by one level.
    Softened,
    /// Secondary: reduced if it was primary, added if there was none.
    Secondary,
    /// Secondary stress added if there was none: a capitalised word within a sentence.
    Lifted,
    /// Primary stress added: a word in all caps.
    Shouted,
}

impl StressChange {
    /// The stress that capital letters indicate.
    pub(crate) fn of_case(word: &str) -> StressChange {
        if word == word.to_lowercase() {
            return StressChange::AsWritten;
        }
        if word == word.to_uppercase() { StressChange::Shouted } else { StressChange::Lifted }
    }

    pub(crate) fn apply(self, phonemes: &str) -> String {
        let primary = phonemes.contains(PRIMARY);
        let secondary = phonemes.contains(SECONDARY);
        match self {
            StressChange::Softened | StressChange::Secondary if primary => soften_stress(phonemes),
            StressChange::Secondary | StressChange::Lifted if !primary && !secondary => {
                mark_stress(phonemes, SECONDARY)
            }
            StressChange::Shouted if !primary && secondary => {
                phonemes.replace(SECONDARY, PRIMARY.encode_utf8(&mut [0; 4]))
            }
            StressChange::Shouted if !primary => mark_stress(phonemes, PRIMARY),
            _ => phonemes.to_owned(),
        }
    }
}

/// Primary stress becomes secondary, and secondary stress is removed.
fn soften_stress(phonemes: &str) -> String {
    let kept = phonemes.chars().filter(|it| *it != SECONDARY);
    kept.map(|it| if it == PRIMARY { SECONDARY } else { it }).collect()
}

/// Inserts a stress mark before the first vowel. Without a vowel nothing changes.
fn mark_stress(phonemes: &str, mark: char) -> String {
    let mut marked = phonemes.to_owned();
    if let Some(vowel) = phonemes.find(is_vowel) {
        marked.insert(vowel, mark);
    }
    marked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(stress: StressChange, phonemes: &str, expected: &str) {
        assert_eq!(stress.apply(phonemes), expected);
    }

    #[test]
    fn a_softened_word_keeps_its_strongest_stress_as_secondary() {
        check(StressChange::Softened, "ˌɛləvˈATəɹ", "ɛləvˌATəɹ");
        check(StressChange::Softened, "ɪz", "ɪz");
    }

    #[test]
    fn a_lifted_word_is_stressed_on_its_first_vowel_only_if_it_had_no_stress() {
        check(StressChange::Lifted, "ðɪs", "ðˌɪs");
        check(StressChange::Lifted, "dˈɔɡ", "dˈɔɡ");
        check(StressChange::Lifted, "s", "s");
    }

    #[test]
    fn a_shouted_word_has_primary_stress() {
        check(StressChange::Shouted, "ðɪs", "ðˈɪs");
        check(StressChange::Shouted, "ðˌɪs", "ðˈɪs");
        check(StressChange::Shouted, "dˈɔɡ", "dˈɔɡ");
    }

    #[test]
    fn capitals_say_how_loud_a_word_is() {
        assert_eq!(StressChange::of_case("it's"), StressChange::AsWritten);
        assert_eq!(StressChange::of_case("Paris"), StressChange::Lifted);
        assert_eq!(StressChange::of_case("STOP"), StressChange::Shouted);
    }
}
