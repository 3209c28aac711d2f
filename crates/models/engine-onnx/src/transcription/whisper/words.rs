//! Joins tokens to words.

use crate::transcription::tokenizer::TranscriptTokenizer;
use crate::transcription::{TimedSegment, TimedWord, TranscriptionError};

/// Languages without spaces: Chinese, Japanese, Thai, Lao, Burmese, Cantonese.
const LANGUAGES_WITHOUT_SPACES: [&str; 6] = ["zh", "ja", "th", "lo", "my", "yue"];
/// An incomplete character, which needs further tokens.
const UNFINISHED: char = char::REPLACEMENT_CHARACTER;

pub(in crate::transcription) fn has_no_spaces(language: &str) -> bool {
    LANGUAGES_WITHOUT_SPACES.contains(&language)
}

/// A word of a text: the tokens from `first` to before `end`.
struct TokenWord {
    text: String,
    first: usize,
    end: usize,
}

/// `starts_s` has the start of each token, and the end of the last.
pub(super) fn assemble_words(
    texts: &TranscriptTokenizer,
    tokens: &[i64],
    starts_s: &[f64],
    is_spaceless: bool,
) -> Result<Vec<TimedWord>, TranscriptionError> {
    let mut words: Vec<TokenWord> = Vec::new();
    let mut first = 0;
    for end in 1..=tokens.len() {
        let text = texts.decode_tokens(&tokens[first..end])?;
        let is_last = end == tokens.len();
        if text.ends_with(UNFINISHED) && !is_last {
            continue;
        }
        append_piece(&mut words, TokenWord { text, first, end }, is_spaceless);
        first = end;
    }
    let time_s = |token: usize| starts_s.get(token).or(starts_s.last()).copied().unwrap_or(0.0);
    let spoken = words.into_iter().map(|word| TimedWord {
        start_s: time_s(word.first),
        end_s: time_s(word.end),
        text: word.text.trim().to_owned(),
    });
    Ok(spoken.filter(|it| !it.text.is_empty()).collect())
}

/// Limits a word's end to the end of its sentence, because a word otherwise lasts until the next
/// one starts, including the pause between sentences.
pub(super) fn end_with_segments(words: &mut [TimedWord], segments: &[TimedSegment]) {
    for word in words {
        let around = |it: &&TimedSegment| it.start_s <= word.start_s && word.start_s < it.end_s;
        if let Some(segment) = segments.iter().rfind(around) {
            word.end_s = word.end_s.min(segment.end_s);
        }
    }
}

/// Appends a piece as a new word or to the previous one.
fn append_piece(words: &mut Vec<TokenWord>, piece: TokenWord, is_spaceless: bool) {
    let is_mark = !piece.text.chars().any(char::is_alphanumeric);
    let begins = piece.text.starts_with(' ') || (is_spaceless && !is_mark);
    match words.last_mut() {
        Some(last) if !begins => {
            last.text.push_str(&piece.text);
            last.end = piece.end;
        }
        _ => words.push(piece),
    }
}
