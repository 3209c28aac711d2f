//! Words whose pronunciation depends on their function and on the next sound.

use super::{LexiconEntry, PronunciationLexicon};
use crate::context::FollowingSound;
use crate::stress::StressChange;
use crate::tag::PosTag;

impl PronunciationLexicon {
    pub(super) fn pronounce_special(
        &self,
        word: &str,
        tag: PosTag,
        stress: StressChange,
        next: FollowingSound,
    ) -> Option<String> {
        if let Some(name) = sign_name(word) {
            return self.pronounce_alone(name);
        }
        if is_initials(word) {
            return self.spell_word(word);
        }
        let capital = word == word.to_uppercase() && 1 < word.len();
        let phonemes = match word.to_lowercase().as_str() {
            "a" if word.len() == 1 => {
                if tag.has_name("DT") {
                    "ɐ"
                } else {
                    "ˈA"
                }
            }
            "am" if tag.is_noun() => return self.spell_word(word),
            "am" if next.vowel.is_some() && word == "am" && stress == StressChange::AsWritten => {
                "ɐm"
            }
            "am" => return self.pronounce_alone("am"),
            "an" if capital && tag.is_noun() => return self.spell_word(word),
            "an" => "ɐn",
            "i" if word == "I" && tag.has_name("PRP") => "ˌI",
            "by" if tag.word_class() == "ADV" => "bˈI",
            "to" if !capital || tag.has_name("TO") || tag.has_name("IN") => match next.vowel {
                None => return self.pronounce_alone("to"),
                Some(false) => "tə",
                Some(true) => "tʊ",
            },
            "in" if !capital || !tag.has_name("NNP") => {
                if next.vowel.is_none() || !tag.has_name("IN") { "ˈɪn" } else { "ɪn" }
            }
            "the" if !capital || tag.has_name("DT") => {
                if next.vowel == Some(true) {
                    "ði"
                } else {
                    "ðə"
                }
            }
            "vs" | "vs." if tag.has_name("IN") => return self.pronounce_alone("versus"),
            "used" => {
                return self.pronounce_used(next.to && (tag.has_name("VBD") || tag.has_name("JJ")));
            }
            _ => return None,
        };
        Some(phonemes.to_owned())
    }

    /// "I used to run" and "I used it" are pronounced differently.
    fn pronounce_used(&self, habit: bool) -> Option<String> {
        let Some(LexiconEntry::ByTag(variants)) = self.checked.find_entry("used") else {
            return None;
        };
        let name = if habit { "VBD" } else { "DEFAULT" };
        let (_, phonemes) = variants.iter().find(|(known, _)| known.as_ref() == name)?;
        phonemes.as_deref().map(str::to_owned)
    }
}

/// The name of a sign that is read like a word.
pub(super) fn sign_name(word: &str) -> Option<&'static str> {
    match word {
        "%" => Some("percent"),
        "&" => Some("and"),
        "+" => Some("plus"),
        "@" => Some("at"),
        _ => None,
    }
}

/// True for U.S., Ph.D., e.g.: groups of one or two letters separated by dots.
fn is_initials(word: &str) -> bool {
    let inner = word.trim_matches('.');
    let is_group = |it: &str| it.chars().count() < 3 && it.chars().all(char::is_alphabetic);
    inner.contains('.') && inner.split('.').all(is_group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initials_are_short_groups_between_dots() {
        let initials = ["U.S.", "Ph.D", "e.g.", "J.K."].map(is_initials);
        assert_eq!(initials, [true; 4]);
        let others = ["U.", "example.com", "etc.", "...", "3.5"].map(is_initials);
        assert_eq!(others, [false; 5]);
    }
}
