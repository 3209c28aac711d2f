//! The dictionary, and how words are found in it that are written otherwise than they stand there.

mod entries;
mod inflection;
mod special;

use entries::{Entries, Entry};

use crate::alphabet::{PRIMARY, SECONDARY};
use crate::context::Following;
use crate::packed::Error;
use crate::stress::Stress;
use crate::tag::Tag;

/// Which English is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accent {
    American,
    British,
}

/// How words are pronounced.
#[derive(Debug)]
pub struct Lexicon {
    accent: Accent,
    /// Checked by people, and it knows parts of speech.
    checked: Entries,
    /// Larger, and less sure.
    guessed: Entries,
}

impl Lexicon {
    /// From compressed JSON: words and their phonemes, or their phonemes for each part of speech.
    pub fn load(accent: Accent, checked: &[u8], guessed: &[u8]) -> Result<Lexicon, Error> {
        Ok(Lexicon { accent, checked: Entries::load(checked)?, guessed: Entries::load(guessed)? })
    }

    /// A word in its surroundings, or nothing if it is unknown.
    pub(crate) fn pronounce(&self, word: &str, tag: Tag, next: Following) -> Option<String> {
        let stress = Stress::of_case(word);
        if let Some(phonemes) = self.special(word, tag, stress, next) {
            return Some(phonemes);
        }
        let lowered = word.to_lowercase();
        let asked = Asked { tag: Some(tag), stress, next: Some(next) };
        let word = if self.is_only_capitalised(word, &lowered, asked) { &lowered } else { word };
        if self.knows(word) {
            return self.find(word, asked);
        }
        if let Some(owner) = word.strip_suffix('\'') {
            // The plural's owner sounds like the singular's: dogs' like dog's.
            let singular = owner.strip_suffix('s').map(|it| format!("{it}'s"));
            if let Some(singular) = singular.filter(|it| self.knows(it)) {
                return self.find(&singular, asked);
            }
            if self.knows(owner) {
                return self.find(owner, asked);
            }
        }
        self.inflected(word, asked)
    }

    /// A word of our own, such as the name of a sign, outside of any sentence.
    fn plain(&self, word: &str) -> Option<String> {
        self.find(word, Asked { tag: None, stress: Stress::AsWritten, next: None })
    }

    /// Whether the word is one from the dictionary but for its capitals: at the start of a
    /// sentence, in a title, or shouted. A name may be a word of its own, unless it is long.
    fn is_only_capitalised(&self, word: &str, lowered: &str, asked: Asked) -> bool {
        let length = word.chars().count();
        let may_be_name = asked.tag.is_some_and(|it| it.is("NNP")) && length <= NAME_LETTERS_MAX;
        let letters = word.chars().all(|it| it == '\'' || it.is_alphabetic());
        let after_first: String = word.chars().skip(1).collect();
        let usual = word == word.to_uppercase() || after_first == after_first.to_lowercase();
        let written = self.has(word);
        if length < 2 || !letters || word == lowered || may_be_name || written || !usual {
            return false;
        }
        self.has(lowered) || self.inflected(lowered, asked).is_some()
    }

    fn has(&self, word: &str) -> bool {
        self.checked.find(word).is_some() || self.guessed.find(word).is_some()
    }

    /// Whether `find` has an answer, be it letter by letter.
    fn knows(&self, word: &str) -> bool {
        if self.has(word) || special::sign(word).is_some() {
            return true;
        }
        if word.is_empty() || !word.chars().all(|it| it.is_ascii_alphabetic()) {
            return false;
        }
        let capital = word == word.to_uppercase();
        if capital && self.checked.find(&word.to_lowercase()).is_some() {
            return true;
        }
        // Abbreviations: NASA, and what is left of plurals such as PhDs.
        word[1..] == word[1..].to_uppercase()
    }

    fn find(&self, word: &str, asked: Asked) -> Option<String> {
        let capital = word == word.to_uppercase() && self.checked.find(word).is_none();
        let lowered = word.to_lowercase();
        let word = if capital { lowered.as_str() } else { word };
        let is_name = capital && asked.tag.is_some_and(|it| it.is("NNP"));
        let guessed = || if is_name { None } else { self.guessed.find(word) };
        let phonemes = match self.checked.find(word).or_else(guessed) {
            Some(Entry::Plain(phonemes)) => Some(phonemes),
            Some(Entry::ByTag(variants)) => variant(variants, asked),
            None => None,
        };
        let is_initials = is_name && !phonemes.is_some_and(|it| it.contains(PRIMARY));
        if (phonemes.is_none() || is_initials)
            && let Some(letters) = self.letters(word)
        {
            return Some(letters);
        }
        phonemes.map(|it| asked.stress.apply(it))
    }

    /// Letter by letter, with the stress on the last.
    fn letters(&self, word: &str) -> Option<String> {
        let mut phonemes = String::new();
        for letter in word.chars().filter(|it| it.is_alphabetic()) {
            match self.checked.find(&letter.to_uppercase().to_string())? {
                Entry::Plain(name) => phonemes.push_str(name),
                Entry::ByTag(_) => return None,
            }
        }
        let phonemes = Stress::Secondary.apply(&phonemes);
        let Some((head, last)) = phonemes.rsplit_once(SECONDARY) else { return Some(phonemes) };
        Some(format!("{head}{PRIMARY}{last}"))
    }
}

/// Longer names that stand in the dictionary in small letters are no names of their own.
const NAME_LETTERS_MAX: usize = 7;

/// What is known of a word that is looked up.
#[derive(Debug, Clone, Copy)]
struct Asked {
    tag: Option<Tag>,
    stress: Stress,
    /// Unknown for a word that stands outside of a sentence.
    next: Option<Following>,
}

/// The phonemes for a part of speech. An entry may say that there are none, and then the word is
/// spelled.
fn variant(variants: &[(Box<str>, Option<Box<str>>)], asked: Asked) -> Option<&str> {
    let named = |name: &str| variants.iter().find(|(known, _)| known.as_ref() == name);
    let at_pause = asked.next.is_some_and(|it| it.vowel.is_none());
    let paused = if at_pause { named("None") } else { None };
    let tagged = || asked.tag.and_then(|tag| named(tag.name()).or_else(|| named(tag.class())));
    let (_, phonemes) = paused.or_else(tagged).or_else(|| named("DEFAULT"))?;
    phonemes.as_deref()
}
