//! Writes a transcript in the requested format.

use engine::{Segment, Times, Transcript, Word};
use wire::audio::{
    CharTime, SegmentTime, Timestamps, Transcription, TranscriptionFormat, VerboseSegment,
    VerboseTranscription, WordTime,
};

use super::request::Wish;
use super::subtitles;
use crate::reply::WithHeaders;
use crate::reply::written::Written;

/// `length_s` is the length of the recording in seconds.
pub(super) fn out(transcript: Transcript, length_s: f64, wish: Wish) -> Written {
    let text = |text: String| Written::Text(WithHeaders::new(text));
    match wish.format {
        TranscriptionFormat::Text => text(transcript.text),
        TranscriptionFormat::Srt => text(subtitles::srt(&transcript, length_s)),
        TranscriptionFormat::Vtt => text(subtitles::vtt(&transcript, length_s)),
        TranscriptionFormat::Json => {
            Written::Json(WithHeaders::new(short(transcript, length_s, wish)))
        }
        TranscriptionFormat::VerboseJson => {
            Written::Verbose(WithHeaders::new(long(transcript, length_s, wish.times)))
        }
    }
}

fn short(transcript: Transcript, length_s: f64, wish: Wish) -> Transcription {
    let Wish { times, chars, .. } = wish;
    let spread: Vec<CharTime> = transcript.words.iter().flat_map(characters).collect();
    let Transcript { text, segments, words, .. } = transcript;
    let segment = |it: Segment| SegmentTime { text: it.text, start: it.start_s, end: it.end_s };
    let timestamps = times.any().then(|| Timestamps {
        word: if_wanted(words, times.words, word),
        segment: if_wanted(segments, times.segments, segment),
        char: if_wanted(spread, chars, |it| it),
    });
    Transcription { text, duration: length_s, timestamps }
}

fn long(transcript: Transcript, length_s: f64, times: Times) -> VerboseTranscription {
    let Transcript { text, language, segments, words, .. } = transcript;
    let numbered: Vec<(usize, Segment)> = segments.into_iter().enumerate().collect();
    let segment = |(id, it): (usize, Segment)| VerboseSegment {
        id,
        start: it.start_s,
        end: it.end_s,
        text: it.text,
        temperature: it.certainty.map(|it| it.temperature),
        avg_logprob: it.certainty.map(|it| it.avg_logprob),
        compression_ratio: it.certainty.map(|it| it.compression_ratio),
        no_speech_prob: it.certainty.map(|it| it.no_speech_prob),
    };
    VerboseTranscription {
        task: "transcribe",
        language,
        duration: length_s,
        text,
        segments: if_wanted(numbered, times.segments, segment),
        words: if_wanted(words, times.words, word),
    }
}

/// The characters of a word, each with an equal share of its time, in milliseconds.
fn characters(word: &Word) -> Vec<CharTime> {
    let count = word.word.trim().chars().count();
    let share_s = (word.end_s - word.start_s) / f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    let at = |index: usize| {
        let share = share_s * f64::from(u32::try_from(index).unwrap_or(u32::MAX));
        ((word.start_s + share) * 1000.0).round() / 1000.0
    };
    let characters = word.word.trim().chars().enumerate();
    let time = |(index, letter): (usize, char)| CharTime {
        char: letter.to_string(),
        start: at(index),
        end: at(index + 1).min(word.end_s),
    };
    characters.map(time).collect()
}

/// The items, if they were requested and the model returned any.
fn if_wanted<T, U>(items: Vec<T>, is_wanted: bool, write: impl Fn(T) -> U) -> Option<Vec<U>> {
    let is_told = is_wanted && !items.is_empty();
    is_told.then(|| items.into_iter().map(write).collect())
}

fn word(it: Word) -> WordTime {
    WordTime { word: it.word, start: it.start_s, end: it.end_s }
}
