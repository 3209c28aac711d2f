//! Words whose pronunciation depends on their function and on the next sound.

use super::{Entry, Lexicon};
use crate::context::Following;
use crate::stress::Stress;
use crate::tag::Tag;

impl Lexicon {
    pub(super) fn special(
        &self,
        word: &str,
        tag: Tag,
        stress: Stress,
        next: Following,
    ) -> Option<String> {
        if let Some(name) = sign(word) {
            return self.plain(name);
        }
        if is_initials(word) {
            return self.letters(word);
        }
        let capital = word == word.to_uppercase() && 1 < word.len();
        let phonemes = match word.to_lowercase().as_str() {
            "a" if word.len() == 1 => {
                if tag.is("DT") {
                    "ɐ"
                } else {
                    "ˈA"
                }
            }
            "am" if tag.is_noun() => return self.letters(word),
            "am" if next.vowel.is_some() && word == "am" && stress == Stress::AsWritten => "ɐm",
            "am" => return self.plain("am"),
            "an" if capital && tag.is_noun() => return self.letters(word),
            "an" => "ɐn",
            "i" if word == "I" && tag.is("PRP") => "ˌI",
            "by" if tag.class() == "ADV" => "bˈI",
            "to" if !capital || tag.is("TO") || tag.is("IN") => match next.vowel {
                None => return self.plain("to"),
                Some(false) => "tə",
                Some(true) => "tʊ",
            },
            "in" if !capital || !tag.is("NNP") => {
                if next.vowel.is_none() || !tag.is("IN") {
                    "ˈɪn"
                } else {
                    "ɪn"
                }
            }
            "the" if !capital || tag.is("DT") => {
                if next.vowel == Some(true) {
                    "ði"
                } else {
                    "ðə"
                }
            }
            "vs" | "vs." if tag.is("IN") => return self.plain("versus"),
            "used" => return self.used(next.to && (tag.is("VBD") || tag.is("JJ"))),
            _ => return None,
        };
        Some(phonemes.to_owned())
    }

    /// "I used to run" and "I used it" are pronounced differently.
    fn used(&self, habit: bool) -> Option<String> {
        let Some(Entry::ByTag(variants)) = self.checked.find("used") else { return None };
        let name = if habit { "VBD" } else { "DEFAULT" };
        let (_, phonemes) = variants.iter().find(|(known, _)| known.as_ref() == name)?;
        phonemes.as_deref().map(str::to_owned)
    }
}

/// The name of a sign that is read like a word.
pub(super) fn sign(word: &str) -> Option<&'static str> {
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
