//! Converts English text to phonemes: words in context, compounds, and unknown words.

use std::sync::{Arc, LazyLock};

use regex::Regex;

use crate::alphabet::{PRIMARY, length};
use crate::context::Following;
use crate::lexicon::Lexicon;
use crate::normalize::normalize;
use crate::packed::Error;
use crate::stress::Stress;
use crate::tag::Tag;
use crate::tagger::Tagger;
use crate::tokens::{Token, tokens};

/// Pronounces words that are in no dictionary; `None` if impossible.
pub trait Unknown {
    fn pronounce(&mut self, word: &str) -> Option<String>;
}

/// Reads English with one accent. The tagger is shared by all accents.
#[derive(Debug)]
pub struct English {
    lexicon: Lexicon,
    tagger: Arc<Tagger>,
    noun: Tag,
}

impl English {
    pub fn new(lexicon: Lexicon, tagger: Arc<Tagger>) -> Result<English, Error> {
        let noun = Tag::parse("NN").ok_or_else(|| Error("there are no nouns".into()))?;
        Ok(English { lexicon, tagger, noun })
    }

    /// The phonemes of one sentence. `[word](/phonemes/)` gives the pronunciation of a word.
    pub fn phonemes(&self, sentence: &str, unknown: &mut dyn Unknown) -> String {
        let mut spoken = String::new();
        let mut from = 0;
        for link in GIVEN.captures_iter(sentence) {
            let (Some(whole), Some(text), Some(target)) = (link.get(0), link.get(1), link.get(2))
            else {
                continue;
            };
            join(&mut spoken, &self.plain(&sentence[from..whole.start()], unknown));
            let given = target.as_str().strip_prefix('/').and_then(|it| it.strip_suffix('/'));
            match given.filter(|it| !it.is_empty()) {
                Some(phonemes) => join(&mut spoken, phonemes),
                None => join(&mut spoken, &self.plain(text.as_str(), unknown)),
            }
            from = whole.end();
        }
        join(&mut spoken, &self.plain(&sentence[from..], unknown));
        spoken
    }

    fn plain(&self, text: &str, unknown: &mut dyn Unknown) -> String {
        let line = normalize(text);
        let tokens = tokens(&line);
        let words: Vec<&str> = tokens.iter().map(|it| it.text).collect();
        let tags = self.tagger.tag(&words);
        let mut spoken: Vec<String> = Vec::new();
        let mut next = Following::default();
        let mut end = tokens.len();
        while 0 < end {
            let start = start_of_word(&tokens, end);
            let token = &tokens[start];
            let space = if tokens[end - 1].space_after { " " } else { "" };
            let phonemes = match token.pause {
                Some(pause) => pause.to_owned(),
                None => {
                    let mut word = Compound::new(&tokens[start..end], &tags[start..end]);
                    self.compound(&mut word, next, unknown)
                }
            };
            next = next.before(token.text, &phonemes);
            spoken.push(format!("{phonemes}{space}"));
            end = start;
        }
        spoken.reverse();
        spoken.concat().replace('ɾ', "T").replace('ʔ', "t").trim().to_owned()
    }

    /// Pronounces a word or compound: repeatedly takes the longest suffix in the dictionary, from
    /// the end to the start.
    fn compound(
        &self,
        word: &mut Compound<'_>,
        next: Following,
        unknown: &mut dyn Unknown,
    ) -> String {
        let mut following = next;
        let mut end = word.parts.len();
        while 0 < end {
            let found = (0..end).find_map(|start| {
                let (text, tag) = word.joined(start, end);
                Some((start, self.lexicon.pronounce(&text, tag, following)?, text))
            });
            if let Some((start, phonemes, text)) = found {
                following = following.before(&text, &phonemes);
                word.parts[start].phonemes = Some(phonemes);
                end = start;
            } else if word.parts[end - 1].is_silent() {
                end -= 1;
            } else {
                let (text, _) = word.joined(0, word.parts.len());
                return self.unheard(&text, unknown);
            }
        }
        word.spoken()
    }

    /// Pronounces a word that is in no dictionary.
    fn unheard(&self, word: &str, unknown: &mut dyn Unknown) -> String {
        let mut spoken = String::new();
        for piece in LETTERS_OR_SIGN.find_iter(word) {
            let piece = piece.as_str();
            let phonemes = match SIGNS.iter().find(|(sign, _)| *sign == piece) {
                Some((_, name)) => self.lexicon.pronounce(name, self.noun, Following::default()),
                None => unknown.pronounce(piece),
            };
            join(&mut spoken, &phonemes.unwrap_or_default());
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

fn join(spoken: &mut String, more: &str) {
    if !spoken.is_empty() && !more.is_empty() && !more.starts_with(crate::alphabet::is_pause) {
        spoken.push(' ');
    }
    spoken.push_str(more);
}

/// The start of the word that ends here: tokens without a space or pause between them.
fn start_of_word(tokens: &[Token<'_>], end: usize) -> usize {
    let is_word = |position: usize| tokens[position].pause.is_none();
    let mut start = end - 1;
    while is_word(start) && 0 < start && is_word(start - 1) && !tokens[start - 1].space_after {
        start -= 1;
    }
    start
}

/// The parts of a compound.
struct Compound<'t> {
    parts: Vec<Part<'t>>,
}

struct Part<'t> {
    text: &'t str,
    tag: Tag,
    /// Empty for a part that is spoken with the previous one.
    phonemes: Option<String>,
}

impl<'t> Compound<'t> {
    fn new(tokens: &[Token<'t>], tags: &[Tag]) -> Compound<'t> {
        let mut parts = Vec::new();
        for (token, tag) in tokens.iter().zip(tags) {
            let humps = humps(token.text);
            parts.extend(humps.map(|text| Part { text, tag: *tag, phonemes: None }));
        }
        Compound { parts }
    }

    /// Joins some parts, with the tag of the longest.
    fn joined(&self, start: usize, end: usize) -> (String, Tag) {
        let parts = &self.parts[start..end];
        let capitals = |text: &str| text.chars().filter(|it| it.is_uppercase()).count();
        let weight = |part: &&Part<'_>| part.text.chars().count() + capitals(part.text);
        // Reversed, because `max_by_key` returns the last maximum and the first is wanted.
        let longest = parts.iter().rev().max_by_key(weight);
        let tag = longest.map_or(self.parts[0].tag, |it| it.tag);
        (parts.iter().map(|it| it.text).collect(), tag)
    }

    /// Joins the phonemes of all parts. Of several stressed words, only some keep their stress.
    fn spoken(&mut self) -> String {
        let text = self.parts.iter().flat_map(|it| it.text.chars());
        let joins = |it: &char| it.is_alphabetic() || "',-._".contains(*it);
        if !text.clone().all(|it| joins(&it)) {
            let parts = self.parts.iter().filter_map(|it| it.phonemes.as_deref());
            return parts.filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ");
        }
        self.soften();
        self.parts.iter().filter_map(|it| it.phonemes.as_deref()).collect()
    }

    fn soften(&mut self) {
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
            let strength = |it: &usize| (phonemes(*it).contains(PRIMARY), length(phonemes(*it)));
            heard.sort_by_key(strength);
            heard.truncate(heard.len() / 2);
        }
        for part in heard {
            let softened =
                self.parts[part].phonemes.as_deref().map(|it| Stress::Softened.apply(it));
            self.parts[part].phonemes = softened;
        }
    }
}

impl Part<'_> {
    fn is_silent(&self) -> bool {
        self.text.chars().all(|it| "',-._/".contains(it))
    }
}

/// The words in a camel-case name such as `iPhone`.
fn humps(word: &str) -> impl Iterator<Item = &str> {
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
        assert_eq!(humps("iPhone").collect::<Vec<_>>(), ["i", "Phone"]);
        assert_eq!(humps("YouTubeTV").collect::<Vec<_>>(), ["You", "Tube", "TV"]);
        assert_eq!(humps("NASA").collect::<Vec<_>>(), ["NASA"]);
    }
}
