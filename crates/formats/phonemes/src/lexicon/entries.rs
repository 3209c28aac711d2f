//! A dictionary in memory: one buffer with all words and phonemes, and their offsets.

use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};

use crate::compressed_json::{self, PronunciationDataError};

/// About 90,000 words. Separate strings would take three times the memory.
#[derive(Debug, Default)]
pub(super) struct LexiconEntries {
    text: String,
    /// Sorted by word.
    plain: Vec<WordSpan>,
    by_tag: HashMap<Box<str>, TagVariants>,
}

/// The pronunciation of a word.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LexiconEntry<'a> {
    Plain(&'a str),
    /// By part of speech, word class, `DEFAULT`, or `None` for before a pause.
    ByTag(&'a [(Box<str>, Option<Box<str>>)]),
}

type TagVariants = Vec<(Box<str>, Option<Box<str>>)>;

/// A word, directly followed by its phonemes.
#[derive(Debug)]
struct WordSpan {
    start: u32,
    word_bytes: u16,
    phonemes_bytes: u16,
}

impl LexiconEntries {
    pub(super) fn load(packed: &[u8]) -> Result<LexiconEntries, PronunciationDataError> {
        let mut entries: LexiconEntries = compressed_json::read_compressed_json(packed)?;
        let text = std::mem::take(&mut entries.text);
        entries.plain.sort_by(|a, b| a.word(&text).cmp(b.word(&text)));
        entries.plain.shrink_to_fit();
        entries.text = text;
        Ok(entries)
    }

    /// Finds a word, also with its first letter in the other case, unless that form has its own
    /// entry.
    pub(super) fn find_entry(&self, word: &str) -> Option<LexiconEntry<'_>> {
        if let Some(entry) = self.find_exact(word) {
            return Some(entry);
        }
        let mut chars = word.chars();
        let first = chars.next()?;
        if chars.as_str().is_empty() {
            return None;
        }
        let lowered = word.to_lowercase();
        let capitalised = first.to_uppercase().chain(lowered.chars().skip(1)).collect::<String>();
        match word {
            _ if word == lowered && word != capitalised => self.find_exact(&capitalised),
            _ if word == capitalised => self.find_exact(&lowered),
            _ => None,
        }
    }

    fn find_exact(&self, word: &str) -> Option<LexiconEntry<'_>> {
        if let Ok(found) = self.plain.binary_search_by(|it| it.word(&self.text).cmp(word)) {
            return Some(LexiconEntry::Plain(self.plain[found].phonemes(&self.text)));
        }
        self.by_tag.get(word).map(|variants| LexiconEntry::ByTag(variants))
    }

    fn push(&mut self, word: &str, phonemes: &str) -> Result<(), &'static str> {
        let long = "a word or the whole is too long";
        let place = WordSpan {
            start: u32::try_from(self.text.len()).map_err(|_| long)?,
            word_bytes: u16::try_from(word.len()).map_err(|_| long)?,
            phonemes_bytes: u16::try_from(phonemes.len()).map_err(|_| long)?,
        };
        self.text.push_str(word);
        self.text.push_str(phonemes);
        self.plain.push(place);
        Ok(())
    }
}

impl WordSpan {
    fn word<'t>(&self, text: &'t str) -> &'t str {
        let start = self.start as usize;
        &text[start..start + usize::from(self.word_bytes)]
    }

    fn phonemes<'t>(&self, text: &'t str) -> &'t str {
        let start = self.start as usize + usize::from(self.word_bytes);
        &text[start..start + usize::from(self.phonemes_bytes)]
    }
}

impl<'de> Deserialize<'de> for LexiconEntries {
    fn deserialize<D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> Result<LexiconEntries, D::Error> {
        deserializer.deserialize_map(EntriesVisitor)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = LexiconEntries;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a dictionary from words to phonemes")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LexiconEntries, A::Error> {
        let mut entries = LexiconEntries::default();
        while let Some((word, value)) = map.next_entry::<Box<str>, EntryValue>()? {
            match value {
                EntryValue::Plain(phonemes) => {
                    entries.push(&word, &phonemes).map_err(serde::de::Error::custom)?;
                }
                EntryValue::ByTag(variants) => {
                    entries.by_tag.insert(word, variants);
                }
            }
        }
        Ok(entries)
    }
}

enum EntryValue {
    Plain(Box<str>),
    ByTag(TagVariants),
}

impl<'de> Deserialize<'de> for EntryValue {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<EntryValue, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = EntryValue;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("phonemes, or phonemes for each part of speech")
    }

    fn visit_str<E>(self, phonemes: &str) -> Result<EntryValue, E> {
        Ok(EntryValue::Plain(phonemes.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<EntryValue, A::Error> {
        let mut variants = TagVariants::new();
        while let Some(variant) = map.next_entry()? {
            variants.push(variant);
        }
        Ok(EntryValue::ByTag(variants))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> LexiconEntries {
        let mut entries: LexiconEntries = serde_json::from_str(
            r#"{"Paris":"pˈɛɹɪs","dog":"dˈɔɡ","polish":"pˈɑlɪʃ","Polish":"pˈOlɪʃ",
                "use":{"DEFAULT":"jˈuz","NOUN":"jˈus"},"a":"ɐ"}"#,
        )
        .unwrap();
        let text = entries.text.clone();
        entries.plain.sort_by(|a, b| a.word(&text).cmp(b.word(&text)));
        entries
    }

    #[track_caller]
    fn check(word: &str, expected: Option<&str>) {
        let entries = entries();
        let found = entries.find_entry(word).map(|it| match it {
            LexiconEntry::Plain(phonemes) => phonemes,
            LexiconEntry::ByTag(variants) => variants[0].1.as_deref().unwrap(),
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn a_word_answers_to_its_capitalised_form_and_the_other_way() {
        check("Dog", Some("dˈɔɡ"));
        check("paris", Some("pˈɛɹɪs"));
        check("DOG", None);
        check("Use", Some("jˈuz"));
    }

    #[test]
    fn a_form_with_an_entry_of_its_own_keeps_it() {
        check("polish", Some("pˈɑlɪʃ"));
        check("Polish", Some("pˈOlɪʃ"));
    }

    #[test]
    fn a_single_letter_is_only_itself() {
        check("a", Some("ɐ"));
        check("A", None);
        check("", None);
    }
}
