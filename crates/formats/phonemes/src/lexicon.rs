//! The dictionary, and lookups of words in other spellings and forms.

mod entries;
mod inflection;
mod special;

use entries::{LexiconEntries, LexiconEntry};

use crate::alphabet::{PRIMARY, SECONDARY};
use crate::compressed_json::PronunciationDataError;
use crate::context::FollowingSound;
use crate::stress::StressChange;
use crate::tag::PosTag;

/// The English accents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnglishAccent {
    American,
    British,
}

/// The pronunciation dictionary.
#[derive(Debug)]
pub struct PronunciationLexicon {
    accent: EnglishAccent,
    /// Verified by people, with parts of speech.
    checked: LexiconEntries,
    /// Larger but less reliable.
    guessed: LexiconEntries,
}

impl PronunciationLexicon {
    /// Loads compressed JSON: words with their phonemes, or with phonemes per part of speech.
    pub fn load(
        accent: EnglishAccent,
        checked: &[u8],
        guessed: &[u8],
    ) -> Result<PronunciationLexicon, PronunciationDataError> {
        Ok(PronunciationLexicon {
            accent,
            checked: LexiconEntries::load(checked)?,
            guessed: LexiconEntries::load(guessed)?,
        })
    }

    /// Pronounces a word in context; `None` if it is unknown.
    pub(crate) fn pronounce(
        &self,
        word: &str,
        tag: PosTag,
        next: FollowingSound,
    ) -> Option<String> {
        let stress = StressChange::of_case(word);
        if let Some(phonemes) = self.pronounce_special(word, tag, stress, next) {
            return Some(phonemes);
        }
        let lowered = word.to_lowercase();
        let asked = LexiconLookup { tag: Some(tag), stress, next: Some(next) };
        let word = if self.is_only_capitalised(word, &lowered, asked) { &lowered } else { word };
        if self.can_pronounce(word) {
            return self.find_pronunciation(word, asked);
        }
        if let Some(owner) = word.strip_suffix('\'') {
            // A plural possessive sounds like the singular: dogs' like dog's.
            let singular = owner.strip_suffix('s').map(|it| format!("{it}'s"));
            if let Some(singular) = singular.filter(|it| self.can_pronounce(it)) {
                return self.find_pronunciation(&singular, asked);
            }
            if self.can_pronounce(owner) {
                return self.find_pronunciation(owner, asked);
            }
        }
        self.pronounce_inflected(word, asked)
    }

    /// Pronounces one of our own words, such as the name of a sign, without context.
    fn pronounce_alone(&self, word: &str) -> Option<String> {
        self.find_pronunciation(
            word,
            LexiconLookup { tag: None, stress: StressChange::AsWritten, next: None },
        )
    }

    /// True if the word is in the dictionary except for its capitals: at the start of a sentence,
    /// in a title, or in all caps. A short proper noun may be a word of its own.
    fn is_only_capitalised(&self, word: &str, lowered: &str, asked: LexiconLookup) -> bool {
        let length = word.chars().count();
        let may_be_name =
            asked.tag.is_some_and(|it| it.has_name("NNP")) && length <= NAME_LETTERS_MAX;
        let letters = word.chars().all(|it| it == '\'' || it.is_alphabetic());
        let after_first: String = word.chars().skip(1).collect();
        let usual = word == word.to_uppercase() || after_first == after_first.to_lowercase();
        let written = self.has_entry(word);
        if length < 2 || !letters || word == lowered || may_be_name || written || !usual {
            return false;
        }
        self.has_entry(lowered) || self.pronounce_inflected(lowered, asked).is_some()
    }

    fn has_entry(&self, word: &str) -> bool {
        self.checked.find_entry(word).is_some() || self.guessed.find_entry(word).is_some()
    }

    /// True if `find` has an answer, possibly letter by letter.
    fn can_pronounce(&self, word: &str) -> bool {
        if self.has_entry(word) || special::sign_name(word).is_some() {
            return true;
        }
        if word.is_empty() || !word.chars().all(|it| it.is_ascii_alphabetic()) {
            return false;
        }
        let capital = word == word.to_uppercase();
        if capital && self.checked.find_entry(&word.to_lowercase()).is_some() {
            return true;
        }
        // Abbreviations such as NASA, and stems of plurals such as PhDs.
        word[1..] == word[1..].to_uppercase()
    }

    fn find_pronunciation(&self, word: &str, asked: LexiconLookup) -> Option<String> {
        let capital = word == word.to_uppercase() && self.checked.find_entry(word).is_none();
        let lowered = word.to_lowercase();
        let word = if capital { lowered.as_str() } else { word };
        let is_name = capital && asked.tag.is_some_and(|it| it.has_name("NNP"));
        let guessed = || if is_name { None } else { self.guessed.find_entry(word) };
        let phonemes = match self.checked.find_entry(word).or_else(guessed) {
            Some(LexiconEntry::Plain(phonemes)) => Some(phonemes),
            Some(LexiconEntry::ByTag(variants)) => find_variant(variants, asked),
            None => None,
        };
        let is_initials = is_name && !phonemes.is_some_and(|it| it.contains(PRIMARY));
        if (phonemes.is_none() || is_initials)
            && let Some(letters) = self.spell_word(word)
        {
            return Some(letters);
        }
        phonemes.map(|it| asked.stress.apply(it))
    }

    /// Spells a word, with the stress on the last letter.
    fn spell_word(&self, word: &str) -> Option<String> {
        let mut phonemes = String::new();
        for letter in word.chars().filter(|it| it.is_alphabetic()) {
            match self.checked.find_entry(&letter.to_uppercase().to_string())? {
                LexiconEntry::Plain(name) => phonemes.push_str(name),
                LexiconEntry::ByTag(_) => return None,
            }
        }
        let phonemes = StressChange::Secondary.apply(&phonemes);
        let Some((head, last)) = phonemes.rsplit_once(SECONDARY) else { return Some(phonemes) };
        Some(format!("{head}{PRIMARY}{last}"))
    }
}

/// Longer names that are in the dictionary in lower case are treated as ordinary words.
const NAME_LETTERS_MAX: usize = 7;

/// The parameters of a lookup.
#[derive(Debug, Clone, Copy)]
struct LexiconLookup {
    tag: Option<PosTag>,
    stress: StressChange,
    /// `None` for a word outside of a sentence.
    next: Option<FollowingSound>,
}

/// The phonemes for a part of speech. An entry may have none, and then the word is spelled.
fn find_variant(variants: &[(Box<str>, Option<Box<str>>)], asked: LexiconLookup) -> Option<&str> {
    let named = |name: &str| variants.iter().find(|(known, _)| known.as_ref() == name);
    let at_pause = asked.next.is_some_and(|it| it.vowel.is_none());
    let paused = if at_pause { named("None") } else { None };
    let tagged = || asked.tag.and_then(|tag| named(tag.name()).or_else(|| named(tag.word_class())));
    let (_, phonemes) = paused.or_else(tagged).or_else(|| named("DEFAULT"))?;
    phonemes.as_deref()
}
