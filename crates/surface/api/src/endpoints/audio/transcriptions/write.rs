//! Writes a transcript in the requested format.

use engine::{TranscriptionAnswer, TranscriptionSegment, TranscriptionWord};
use http_frame::reply::WithHeaders;
use http_frame::reply::transcript::TranscriptReply;
use wire::audio::{
    CharTime, SegmentTime, Timestamps, Transcription, TranscriptionFormat, VerboseSegment,
    VerboseTranscription, WordTime,
};

use super::request::{TranscriptOptions, TranscriptTask};
use super::subtitles;

/// The language of translations, in the words of OpenAI.
const ENGLISH: &str = "english";

/// `length_s` is the length of the recording in seconds.
pub(super) fn write_transcript(
    transcript: TranscriptionAnswer,
    length_s: f64,
    wish: TranscriptOptions,
) -> TranscriptReply {
    let text = |text: String| TranscriptReply::Text(WithHeaders::new(text));
    match wish.format {
        TranscriptionFormat::Text => text(transcript.text),
        TranscriptionFormat::Srt => text(subtitles::format_srt(&transcript, length_s)),
        TranscriptionFormat::Vtt => text(subtitles::format_vtt(&transcript, length_s)),
        TranscriptionFormat::Json => {
            TranscriptReply::Json(WithHeaders::new(build_transcription(transcript, length_s, wish)))
        }
        TranscriptionFormat::VerboseJson => TranscriptReply::Verbose(WithHeaders::new(
            build_verbose_transcription(transcript, length_s, wish),
        )),
    }
}

fn build_transcription(
    transcript: TranscriptionAnswer,
    length_s: f64,
    wish: TranscriptOptions,
) -> Transcription {
    let TranscriptOptions { times, chars, .. } = wish;
    let spread: Vec<CharTime> = transcript.words.iter().flat_map(spread_characters).collect();
    let TranscriptionAnswer { text, segments, words, .. } = transcript;
    let segment =
        |it: TranscriptionSegment| SegmentTime { text: it.text, start: it.start_s, end: it.end_s };
    let timestamps = times.any().then(|| Timestamps {
        word: map_requested(words, times.words, to_word_time),
        segment: map_requested(segments, times.segments, segment),
        char: map_requested(spread, chars, |it| it),
    });
    Transcription { text, duration: length_s, timestamps }
}

fn build_verbose_transcription(
    transcript: TranscriptionAnswer,
    length_s: f64,
    wish: TranscriptOptions,
) -> VerboseTranscription {
    let times = wish.times;
    let TranscriptionAnswer { text, language, segments, words, .. } = transcript;
    let (task, language) = match wish.task {
        TranscriptTask::Transcribe => ("transcribe", language),
        TranscriptTask::Translate => ("translate", Some(ENGLISH.to_owned())),
    };
    let numbered: Vec<(usize, TranscriptionSegment)> = segments.into_iter().enumerate().collect();
    let segment = |(id, it): (usize, TranscriptionSegment)| VerboseSegment {
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
        task,
        language,
        duration: length_s,
        text,
        segments: map_requested(numbered, times.segments, segment),
        words: map_requested(words, times.words, to_word_time),
    }
}

/// The characters of a word, each with an equal share of its time, in milliseconds.
fn spread_characters(word: &TranscriptionWord) -> Vec<CharTime> {
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
fn map_requested<T, U>(items: Vec<T>, is_wanted: bool, write: impl Fn(T) -> U) -> Option<Vec<U>> {
    let is_told = is_wanted && !items.is_empty();
    is_told.then(|| items.into_iter().map(write).collect())
}

fn to_word_time(it: TranscriptionWord) -> WordTime {
    WordTime { word: it.word, start: it.start_s, end: it.end_s }
}
