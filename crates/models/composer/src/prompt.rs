//! Derives a plan from a prompt.

use std::ops::RangeInclusive;

use crate::random::SeededRandom;
use crate::style::{MusicStyle, STYLES, StyleName};
use crate::synth::SynthInstrument;
use crate::theory::ScaleMode;
use crate::{SECONDS_MAX, SECONDS_MIN};

/// All parameters of a piece.
#[derive(Debug, Clone, PartialEq)]
pub struct SongPlan {
    pub style: StyleName,
    pub bpm: u16,
    /// The root, from 0 (C) to 11 (B).
    pub root: u8,
    pub mode: ScaleMode,
    /// Plays the melody instead of the style's instrument.
    pub lead: Option<SynthInstrument>,
    pub has_drums: bool,
    pub seconds: u32,
    pub seed: u64,
}

const SLOWER: [&str; 8] =
    ["slow", "calm", "sad", "gentle", "sleepy", "peaceful", "melancholic", "lazy"];
const FASTER: [&str; 8] =
    ["fast", "upbeat", "energetic", "driving", "quick", "lively", "intense", "frantic"];
const MAJOR: [&str; 8] =
    ["happy", "major", "bright", "cheerful", "joyful", "sunny", "uplifting", "playful"];
const MINOR: [&str; 9] =
    ["sad", "minor", "dark", "melancholic", "sorrowful", "moody", "gloomy", "tense", "mysterious"];
const ROOTS: [(&str, u8); 7] =
    [("c", 0), ("d", 2), ("e", 4), ("f", 5), ("g", 7), ("a", 9), ("b", 11)];
const BPM_MIN: u16 = 40;
const BPM_MAX: u16 = 220;

/// Parses a prompt. Unknown words are ignored; the seed decides what the prompt leaves open.
pub fn plan_song(prompt: &str, seconds: u32, seed: u64) -> SongPlan {
    let lower = prompt.to_lowercase();
    let words: Vec<&str> = lower
        .split(|it: char| !(it.is_alphanumeric() || it == '-' || it == '#'))
        .filter(|word| !word.is_empty())
        .collect();
    let mut random = SeededRandom::new(seed, "plan");
    let style = choose_style(&words, &mut random);
    let table = style.definition();
    let mode = parse_mode(&words).unwrap_or(table.mode);
    SongPlan {
        style,
        bpm: choose_tempo(&words, &table.bpm, &mut random),
        root: parse_key_root(&words)
            .unwrap_or_else(|| u8::try_from(random.next_below(12)).unwrap_or(0)),
        mode,
        lead: words.iter().find_map(|word| SynthInstrument::from_word(word)),
        has_drums: !is_without_drums(&words),
        seconds: seconds.clamp(SECONDS_MIN, SECONDS_MAX),
        seed,
    }
}

/// Weight of a genre's name. A word that only suggests a style has weight 1, so that three of them
/// do not outweigh a name.
const GENRE_WEIGHT: usize = 4;
/// Words after which a prompt describes accompaniment or purpose rather than the style.
const ASIDES: [&str; 8] = ["with", "for", "over", "in", "to", "at", "like", "featuring"];

/// The requested style. Ties go to the style named last before one of `ASIDES`: `jazz rock` is
/// rock, and so is `rock with jazz piano`.
fn choose_style(words: &[&str], random: &mut SeededRandom) -> StyleName {
    let chosen = random.next_below(STYLES.len());
    let terms = collect_terms(words);
    let head = words.iter().position(|word| ASIDES.contains(word)).unwrap_or(words.len());
    let claim = |style: &'static MusicStyle| {
        let weight = |term: &str| {
            let is_genre = style.genres.contains(&term);
            let is_word = style.words.contains(&term);
            if is_genre { GENRE_WEIGHT } else { usize::from(is_word) }
        };
        let weighed = terms.iter().map(|(place, term)| (*place, weight(term)));
        let named: Vec<(usize, usize)> = weighed.filter(|(_, weight)| 0 < *weight).collect();
        let score: usize = named.iter().map(|(_, weight)| weight).sum();
        let last_in_head = named.iter().map(|(place, _)| *place).filter(|it| *it < head).max();
        (score, last_in_head)
    };
    let best = STYLES.iter().map(|style| (claim(style), style.name)).rev().max_by_key(|it| it.0);
    match best {
        Some(((score, _), name)) if 0 < score => name,
        _ => STYLES[chosen].name,
    }
}

/// Words without hyphens, and adjacent words joined, each with its position: `lo-fi hip hop`
/// contains `lofi` and `hiphop`.
fn collect_terms(words: &[&str]) -> Vec<(usize, String)> {
    let joined = |parts: &[&str]| parts.concat().replace('-', "");
    let single = words.iter().enumerate().map(|(place, word)| (place, joined(&[word])));
    let pairs = words.windows(2).enumerate().map(|(place, pair)| (place, joined(pair)));
    single.chain(pairs).collect()
}

/// Parses `120 bpm`; otherwise selects a tempo from the style's range.
fn choose_tempo(words: &[&str], range: &RangeInclusive<u16>, random: &mut SeededRandom) -> u16 {
    let place = random.next_unit();
    let said = words.iter().enumerate().find_map(|(index, word)| {
        if let Some(number) = word.strip_suffix("bpm") {
            return number.parse::<u16>().ok();
        }
        let is_unit = words.get(index + 1).is_some_and(|next| *next == "bpm");
        if is_unit { word.parse::<u16>().ok() } else { None }
    });
    if let Some(said) = said {
        return said.clamp(BPM_MIN, BPM_MAX);
    }
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let place = match (has(&SLOWER), has(&FASTER)) {
        (true, false) => place * 0.3,
        (false, true) => 0.7 + place * 0.3,
        _ => place,
    };
    let width = f32::from(range.end() - range.start());
    range.start() + (place * width).round().clamp(0.0, width) as u16
}

/// Parses a key such as `in F# minor` or `c major`.
fn parse_key_root(words: &[&str]) -> Option<u8> {
    words.windows(2).find_map(|pair| {
        let is_key = matches!(pair[1], "major" | "minor" | "sharp" | "flat");
        if !is_key {
            return None;
        }
        let (letter, sharp) = match pair[0].strip_suffix('#') {
            Some(letter) => (letter, 1),
            None => (pair[0], 0),
        };
        let (_, root) = ROOTS.iter().find(|(name, _)| *name == letter)?;
        let shift = match pair[1] {
            "sharp" => 1,
            "flat" => 11,
            _ => sharp,
        };
        Some((root + shift) % 12)
    })
}

fn parse_mode(words: &[&str]) -> Option<ScaleMode> {
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    match (has(&MAJOR), has(&MINOR)) {
        (true, false) => Some(ScaleMode::Major),
        (false, true) => Some(ScaleMode::Minor),
        _ => None,
    }
}

fn is_without_drums(words: &[&str]) -> bool {
    words.windows(2).any(|pair| {
        matches!(pair[0], "no" | "without") && matches!(pair[1], "drums" | "percussion" | "beat")
    })
}
