//! Part-of-speech tagging by an averaged perceptron over the surrounding words.

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::Deserialize;
use serde::de::{Error as _, MapAccess, Visitor};

use crate::compressed_json::{self, PronunciationDataError};
use crate::tag::{NAMES, PosTag};

/// Distinguishes `read` in "I read it yesterday" from `read` in "I will read it".
#[derive(Debug, Deserialize)]
pub struct PosTagger {
    tags: Vec<Box<str>>,
    /// Words with only one tag.
    tagdict: HashMap<Box<str>, Box<str>>,
    vocab: HashSet<Box<str>>,
    weights: HashMap<Box<str>, TagWeights>,
}

impl PosTagger {
    /// Loads compressed JSON with `tags`, `tagdict`, `vocab` and `weights`.
    pub fn load(packed: &[u8]) -> Result<PosTagger, PronunciationDataError> {
        let tagger: PosTagger = compressed_json::read_compressed_json(packed)?;
        if !tagger.tags.iter().map(AsRef::as_ref).eq(NAMES) {
            return Err(PronunciationDataError(
                "the tagger speaks of other parts of speech".into(),
            ));
        }
        Ok(tagger)
    }

    pub(crate) fn tag_words(&self, words: &[&str]) -> Vec<PosTag> {
        let around = self.surrounding_words(words);
        let mut tags: Vec<PosTag> = Vec::with_capacity(words.len());
        for (position, word) in words.iter().enumerate() {
            let known = self.tagdict.get(*word).and_then(|name| PosTag::parse(name));
            let tag = known.unwrap_or_else(|| {
                let features = build_features(position, word, &around, &tags);
                self.best_tag(&features)
            });
            tags.push(tag);
        }
        tags
    }

    /// The words as named in features, with two positions before and after. Rare words are
    /// represented by their shape.
    fn surrounding_words(&self, words: &[&str]) -> Vec<String> {
        let named = words.iter().map(|word| {
            let name = feature_name(word);
            if self.vocab.contains(name.as_str()) {
                name
            } else {
                format!("<{}>", word_shape(word))
            }
        });
        let before = BEFORE.map(str::to_owned).into_iter();
        before.chain(named).chain(AFTER.map(str::to_owned)).collect()
    }

    fn best_tag(&self, features: &[String]) -> PosTag {
        let mut scores = [0i32; NAMES.len()];
        for feature in features {
            let Some(weights) = self.weights.get(feature.as_str()) else { continue };
            for (tag, tenths) in &weights.0 {
                scores[tag.index()] += i32::from(*tenths);
            }
        }
        let best = PosTag::all().max_by_key(|tag| (scores[tag.index()], *tag));
        best.expect("there is at least one tag")
    }
}

const BEFORE: [&str; 2] = ["-START2-", "-START-"];
const AFTER: [&str; 2] = ["-END-", "-END2-"];

/// The features that the perceptron was trained with.
fn build_features(position: usize, word: &str, around: &[String], tags: &[PosTag]) -> Vec<String> {
    let here = position + BEFORE.len();
    let earlier = |back: usize| match position.checked_sub(back) {
        Some(position) => tags[position].name(),
        None => BEFORE[BEFORE.len() + position - back],
    };
    let (last, last_but_one) = (earlier(1), earlier(2));
    let first: String = word.chars().take(1).collect();
    let (previous, next) = (&around[here - 1], &around[here + 1]);
    vec![
        "b".to_owned(),
        format!("s3={}", word_ending(word)),
        format!("p1={first}"),
        format!("w={}", around[here]),
        format!("sh={}", word_shape(word)),
        if position == 0 { "i0" } else { "i+" }.to_owned(),
        format!("t-1={last}"),
        format!("t-2={last_but_one}"),
        format!("t-12={last},{last_but_one}"),
        format!("w-1={previous}"),
        format!("s3-1={}", word_ending(previous)),
        format!("w-2={}", around[here - 2]),
        format!("w+1={next}"),
        format!("s3+1={}", word_ending(next)),
        format!("w+2={}", around[here + 2]),
    ]
}

/// The last three letters.
fn word_ending(word: &str) -> &str {
    word.char_indices().rev().nth(2).map_or(word, |(start, _)| &word[start..])
}

fn feature_name(word: &str) -> String {
    let digits = |it: &str| it.chars().all(char::is_numeric);
    match word.chars().next() {
        Some(first) if first != '-' && word.contains('-') => "!HYPHEN".to_owned(),
        Some(_) if digits(word) && word.chars().count() == 4 => "!YEAR".to_owned(),
        Some(first) if first.is_numeric() => "!DIGITS".to_owned(),
        _ => word.to_lowercase(),
    }
}

/// The pattern of capitals, or of leading signs.
fn word_shape(word: &str) -> String {
    let letters = word.chars().all(char::is_alphabetic);
    let mut chars = word.chars();
    let first = chars.next();
    let named =
        match first {
            Some(_) if letters && word.chars().all(char::is_lowercase) => "x",
            Some(_) if letters && word.chars().all(char::is_uppercase) => {
                if chars.next().is_some() { "XX" } else { "X1" }
            }
            Some(first) if letters && first.is_uppercase() && chars.all(char::is_lowercase) => "Xx",
            Some(_) if letters => "xX",
            Some(_) if word.chars().all(char::is_numeric) => "d",
            _ => return word.chars().take(4).map(shape_character).collect(),
        };
    named.to_owned()
}

fn shape_character(character: char) -> char {
    match character {
        it if it.is_numeric() => 'd',
        it if it.is_alphabetic() => 'x',
        it => it,
    }
}

/// A feature's weight per tag, in tenths, which is the file's precision.
#[derive(Debug)]
struct TagWeights(Box<[(PosTag, i16)]>);

impl<'de> Deserialize<'de> for TagWeights {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<TagWeights, D::Error> {
        deserializer.deserialize_map(WeightsVisitor)
    }
}

struct WeightsVisitor;

impl<'de> Visitor<'de> for WeightsVisitor {
    type Value = TagWeights;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a weight for each tag")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TagWeights, A::Error> {
        let mut weights = Vec::new();
        while let Some((name, weight)) = map.next_entry::<&str, f32>()? {
            let tag = PosTag::parse(name)
                .ok_or_else(|| A::Error::custom(format!("unknown part of speech {name}")))?;
            #[expect(clippy::cast_possible_truncation, reason = "clamped to what fits")]
            let tenths = (weight * 10.0).round().clamp(-32_000.0, 32_000.0) as i16;
            weights.push((tag, tenths));
        }
        Ok(TagWeights(weights.into_boxed_slice()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_tells_capitals_from_small_letters_and_digits() {
        let shapes = ["dog", "Dog", "DOG", "D", "iPod", "42", "3rd", "-"].map(word_shape);
        assert_eq!(shapes, ["x", "Xx", "XX", "X1", "xX", "d", "dxx", "-"]);
    }

    #[test]
    fn an_ending_is_three_letters_whatever_their_bytes() {
        assert_eq!(["walking", "né", "crème"].map(word_ending), ["ing", "né", "ème"]);
    }

    #[test]
    fn features_look_two_words_back_and_ahead() {
        let around = ["-START2-", "-START-", "the", "dog", "-END-", "-END2-"].map(str::to_owned);
        let determiner = PosTag::parse("DT").unwrap();
        let found = build_features(1, "Dog", &around, &[determiner]);
        for expected in ["t-1=DT", "t-2=-START-", "w-1=the", "w+1=-END-", "s3=Dog", "sh=Xx"] {
            assert!(found.iter().any(|it| it == expected), "{expected} in {found:?}");
        }
    }
}
