//! Converts English text to phonemes: words in context, compounds, and unknown words.

use std::sync::{Arc, LazyLock};

use regex::Regex;

use crate::alphabet::{PRIMARY, estimate_duration};
use crate::compressed_json::PronunciationDataError;
use crate::context::FollowingSound;
use crate::lexicon::PronunciationLexicon;
use crate::normalize::normalize_text;
use crate::stress::StressChange;
use crate::tag::PosTag;
use crate::tagger::PosTagger;
use crate::tokens::{WordToken, tokenize_line};

/// Pronounces words that are in no dictionary; `None` if impossible.
pub trait UnknownWordModel {
    fn pronounce(&mut self, word: &str) -> Option<String>;
}

/// Reads English with one accent. The tagger is shared by all accents.
#[derive(Debug)]
pub struct EnglishPronouncer {
    lexicon: PronunciationLexicon,
    tagger: Arc<PosTagger>,
    noun: PosTag,
}

impl EnglishPronouncer {
    pub fn new(
        lexicon: PronunciationLexicon,
        tagger: Arc<PosTagger>,
    ) -> Result<EnglishPronouncer, PronunciationDataError> {
        let noun = PosTag::parse("NN")
            .ok_or_else(|| PronunciationDataError("there are no nouns".into()))?;
        Ok(EnglishPronouncer { lexicon, tagger, noun })
    }

    /// The phonemes of one sentence. `[word](/phonemes/)` gives the pronunciation of a word.
    pub fn pronounce_sentence(&self, sentence: &str, unknown: &mut dyn UnknownWordModel) -> String {
        let mut spoken = String::new();
        let mut from = 0;
        for link in GIVEN.captures_iter(sentence) {
            let (Some(whole), Some(text), Some(target)) = (link.get(0), link.get(1), link.get(2))
            else {
                continue;
            };
            append_phonemes(
                &mut spoken,
                &self.pronounce_text(&sentence[from..whole.start()], unknown),
            );
            let given = target.as_str().strip_prefix('/').and_then(|it| it.strip_suffix('/'));
            match given.filter(|it| !it.is_empty()) {
                Some(phonemes) => append_phonemes(&mut spoken, phonemes),
                None => append_phonemes(&mut spoken, &self.pronounce_text(text.as_str(), unknown)),
            }
            from = whole.end();
        }
        append_phonemes(&mut spoken, &self.pronounce_text(&sentence[from..], unknown));
        spoken
    }

    fn pronounce_text(&self, text: &str, unknown: &mut dyn UnknownWordModel) -> String {
        let line = normalize_text(text);
        let tokens = tokenize_line(&line);
        let words: Vec<&str> = tokens.iter().map(|it| it.text).collect();
        let tags = self.tagger.tag_words(&words);
        let mut spoken: Vec<String> = Vec::new();
        let mut next = FollowingSound::default();
        let mut end = tokens.len();
        while 0 < end {
            let start = start_of_word(&tokens, end);
            let token = &tokens[start];
            let space = if tokens[end - 1].space_after { " " } else { "" };
            let phonemes = match token.pause {
                Some(pause) => pause.to_owned(),
                None => {
                    let mut word = CompoundWord::new(&tokens[start..end], &tags[start..end]);
                    self.pronounce_compound(&mut word, next, unknown)
                }
            };
            next = next.before_word(token.text, &phonemes);
            spoken.push(format!("{phonemes}{space}"));
            end = start;
        }
        spoken.reverse();
        spoken.concat().replace('ɾ', "T").replace('ʔ', "t").trim().to_owned()
    }

    /// Pronounces a word or compound: repeatedly takes the longest suffix in the dictionary, from
    /// the end to the start.
    fn pronounce_compound(
        &self,
        word: &mut CompoundWord<'_>,
        next: FollowingSound,
        unknown: &mut dyn UnknownWordModel,
    ) -> String {
        let mut following = next;
        let mut end = word.parts.len();
        while 0 < end {
            let found = (0..end).find_map(|start| {
                let (text, tag) = word.join_parts(start, end);
                Some((start, self.lexicon.pronounce(&text, tag, following)?, text))
            });
            if let Some((start, phonemes, text)) = found {
                following = following.before_word(&text, &phonemes);
                word.parts[start].phonemes = Some(phonemes);
                end = start;
            } else if word.parts[end - 1].is_silent() {
                end -= 1;
            } else {
                let (text, _) = word.join_parts(0, word.parts.len());
                return self.pronounce_unknown(&text, unknown);
            }
        }
        word.join_phonemes()
    }

    /// Pronounces a word that is in no dictionary.
    fn pronounce_unknown(&self, word: &str, unknown: &mut dyn UnknownWordModel) -> String {
        let mut spoken = String::new();
        for piece in LETTERS_OR_SIGN.find_iter(word) {
            let piece = piece.as_str();
            let phonemes = match SIGNS.iter().find(|(sign, _)| *sign == piece) {
                Some((_, name)) => {
                    self.lexicon.pronounce(name, self.noun, FollowingSound::default())
                }
                None => unknown.pronounce(piece),
            };
            append_phonemes(&mut spoken, &phonemes.unwrap_or_default());
        }
        spoken
    }
}

/// `[text](target)`, a Markdown link.
static GIVEN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\[([^\[\]]+)\]\(([^()\s]*)\)").expect("the pattern of a link is right")
});
static LETTERS_OR_SIGN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\w+(?:'\w+)*|[^\w\s]").expect("the pattern of a piece is right"));
/// Signs that are spoken within an unknown word.
const SIGNS: [(&str, &str); 6] =
    [("/", "slash"), ("=", "equals"), ("+", "plus"), ("&", "and"), ("@", "at"), ("%", "percent")];

fn append_phonemes(spoken: &mut String, more: &str) {
    if !spoken.is_empty() && !more.is_empty() && !more.starts_with(crate::alphabet::is_pause) {
        spoken.push(' ');
    }
    spoken.push_str(more);
}

/// The start of the word that ends here: tokens without a space or pause between them.
fn start_of_word(tokens: &[WordToken<'_>], end: usize) -> usize {
    let is_word = |position: usize| tokens[position].pause.is_none();
    let mut start = end - 1;
    while is_word(start) && 0 < start && is_word(start - 1) && !tokens[start - 1].space_after {
        start -= 1;
    }
    start
}

/// The parts of a compound.
struct CompoundWord<'t> {
    parts: Vec<CompoundPart<'t>>,
}

struct CompoundPart<'t> {
    text: &'t str,
    tag: PosTag,
    /// Empty for a part that is spoken with the previous one.
    phonemes: Option<String>,
}

impl<'t> CompoundWord<'t> {
    fn new(tokens: &[WordToken<'t>], tags: &[PosTag]) -> CompoundWord<'t> {
        let mut parts = Vec::new();
        for (token, tag) in tokens.iter().zip(tags) {
            let humps = split_camel_case(token.text);
            parts.extend(humps.map(|text| CompoundPart { text, tag: *tag, phonemes: None }));
        }
        CompoundWord { parts }
    }

    /// Joins some parts, with the tag of the longest.
    fn join_parts(&self, start: usize, end: usize) -> (String, PosTag) {
        let parts = &self.parts[start..end];
        let capitals = |text: &str| text.chars().filter(|it| it.is_uppercase()).count();
        let weight = |part: &&CompoundPart<'_>| part.text.chars().count() + capitals(part.text);
        // Reversed, because `max_by_key` returns the last maximum and the first is wanted.
        let longest = parts.iter().rev().max_by_key(weight);
        let tag = longest.map_or(self.parts[0].tag, |it| it.tag);
        (parts.iter().map(|it| it.text).collect(), tag)
    }

    /// Joins the phonemes of all parts. Of several stressed words, only some keep their stress.
    fn join_phonemes(&mut self) -> String {
        let text = self.parts.iter().flat_map(|it| it.text.chars());
        let joins = |it: &char| it.is_alphabetic() || "',-._".contains(*it);
        if !text.clone().all(|it| joins(&it)) {
            let parts = self.parts.iter().filter_map(|it| it.phonemes.as_deref());
            return parts.filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ");
        }
        self.soften_stress();
        self.parts.iter().filter_map(|it| it.phonemes.as_deref()).collect()
    }

    fn soften_stress(&mut self) {
        let phonemes = |it: usize| self.parts[it].phonemes.as_deref().unwrap_or_default();
        let mut heard: Vec<usize> =
            (0..self.parts.len()).filter(|it| !phonemes(*it).is_empty()).collect();
        let stressed = heard.iter().filter(|it| phonemes(**it).contains(PRIMARY)).count();
        // A single letter before a word keeps its stress: e-mail, T-shirt.
        if let [letter, word] = heard.as_slice()
            && self.parts[*letter].text.chars().count() == 1
        {
            heard = vec![*word];
        } else if heard.len() < 2 || stressed <= heard.len().div_ceil(2) {
            return;
        } else {
            let strength =
                |it: &usize| (phonemes(*it).contains(PRIMARY), estimate_duration(phonemes(*it)));
            heard.sort_by_key(strength);
            heard.truncate(heard.len() / 2);
        }
        for part in heard {
            let softened =
                self.parts[part].phonemes.as_deref().map(|it| StressChange::Softened.apply(it));
            self.parts[part].phonemes = softened;
        }
    }
}

impl CompoundPart<'_> {
    fn is_silent(&self) -> bool {
        self.text.chars().all(|it| "',-._/".contains(it))
    }
}

/// The words in a camel-case name such as `iPhone`.
fn split_camel_case(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let pairs = rest.char_indices().zip(rest.chars().skip(1));
        let mut humps =
            pairs.filter(|((_, this), next)| this.is_lowercase() && next.is_uppercase());
        let end = humps.next().map_or(rest.len(), |((at, this), _)| at + this.len_utf8());
        let (hump, more) = rest.split_at(end);
        rest = more;
        Some(hump)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_humps_is_several_words() {
        assert_eq!(split_camel_case("iPhone").collect::<Vec<_>>(), ["i", "Phone"]);
        assert_eq!(split_camel_case("YouTubeTV").collect::<Vec<_>>(), ["You", "Tube", "TV"]);
        assert_eq!(split_camel_case("NASA").collect::<Vec<_>>(), ["NASA"]);
    }
}
