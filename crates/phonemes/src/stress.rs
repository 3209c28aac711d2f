//! Word stress, and its changes by context.

use crate::alphabet::{PRIMARY, SECONDARY, is_vowel};

/// A change of a word's stress by its context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stress {
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

impl Stress {
    /// The stress that capital letters indicate.
    pub(crate) fn of_case(word: &str) -> Stress {
        if word == word.to_lowercase() {
            return Stress::AsWritten;
        }
        if word == word.to_uppercase() { Stress::Shouted } else { Stress::Lifted }
    }

    pub(crate) fn apply(self, phonemes: &str) -> String {
        let primary = phonemes.contains(PRIMARY);
        let secondary = phonemes.contains(SECONDARY);
        match self {
            Stress::Softened | Stress::Secondary if primary => soften(phonemes),
            Stress::Secondary | Stress::Lifted if !primary && !secondary => {
                mark(phonemes, SECONDARY)
            }
            Stress::Shouted if !primary && secondary => {
                phonemes.replace(SECONDARY, PRIMARY.encode_utf8(&mut [0; 4]))
            }
            Stress::Shouted if !primary => mark(phonemes, PRIMARY),
            _ => phonemes.to_owned(),
        }
    }
}

/// Primary stress becomes secondary, and secondary stress is removed.
fn soften(phonemes: &str) -> String {
    let kept = phonemes.chars().filter(|it| *it != SECONDARY);
    kept.map(|it| if it == PRIMARY { SECONDARY } else { it }).collect()
}

/// Inserts a stress mark before the first vowel. Without a vowel nothing changes.
fn mark(phonemes: &str, mark: char) -> String {
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
    fn check(stress: Stress, phonemes: &str, expected: &str) {
        assert_eq!(stress.apply(phonemes), expected);
    }

    #[test]
    fn a_softened_word_keeps_its_strongest_stress_as_secondary() {
        check(Stress::Softened, "ˌɛləvˈATəɹ", "ɛləvˌATəɹ");
        check(Stress::Softened, "ɪz", "ɪz");
    }

    #[test]
    fn a_lifted_word_is_stressed_on_its_first_vowel_only_if_it_had_no_stress() {
        check(Stress::Lifted, "ðɪs", "ðˌɪs");
        check(Stress::Lifted, "dˈɔɡ", "dˈɔɡ");
        check(Stress::Lifted, "s", "s");
    }

    #[test]
    fn a_shouted_word_has_primary_stress() {
        check(Stress::Shouted, "ðɪs", "ðˈɪs");
        check(Stress::Shouted, "ðˌɪs", "ðˈɪs");
        check(Stress::Shouted, "dˈɔɡ", "dˈɔɡ");
    }

    #[test]
    fn capitals_say_how_loud_a_word_is() {
        assert_eq!(Stress::of_case("it's"), Stress::AsWritten);
        assert_eq!(Stress::of_case("Paris"), Stress::Lifted);
        assert_eq!(Stress::of_case("STOP"), Stress::Shouted);
    }
}
