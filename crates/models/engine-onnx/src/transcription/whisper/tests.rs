//! Tests of features, token rules and alignment.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use super::alignment::starts_s;
use super::mel::{BANDS, FRAMES, MelSpectrogram};
use super::rules::{apply_rules, log_probability, split_spans};
use super::vocabulary::WhisperVocabulary;
use super::words::end_with_segments;
use crate::transcription::{TimedSegment, TimedWord, TranscriptionTask};

/// Text tokens are 0 to 9, special tokens 10 to 15, timestamps from 16.
fn vocabulary() -> WhisperVocabulary {
    WhisperVocabulary {
        start: 11,
        end: 10,
        transcribe: 13,
        translate: Some(12),
        previous: 13,
        no_speech: 14,
        no_times: 15,
        times: 16,
        never: vec![9, 11, 12, 13, 14],
        never_first: vec![8, 10],
        alignment: Vec::new(),
        languages: BTreeMap::from([("en".to_owned(), 12)]),
    }
}

/// The tokens that the rules allow.
fn allowed(tokens: &[i64]) -> Vec<usize> {
    // Every text token is more likely than all timestamps together.
    let mut logits: Vec<f32> = (0..100).map(|it| if it < 16 { 10.0 } else { 0.0 }).collect();
    apply_rules(&mut logits, tokens, &vocabulary());
    (0..logits.len()).filter(|it| logits[*it].is_finite()).collect()
}

#[test]
fn the_task_is_the_last_token_before_the_text() {
    let vocabulary = vocabulary();
    let prefix = |task, context| vocabulary.build_prefix(task, 7, context);
    assert_eq!(prefix(TranscriptionTask::Transcribe, &[]), [11, 7, 13]);
    assert_eq!(prefix(TranscriptionTask::Translate, &[]), [11, 7, 12]);
    assert_eq!(prefix(TranscriptionTask::Translate, &[1, 2]), [13, 1, 2, 11, 7, 12]);
}

#[test]
fn a_stretch_begins_with_a_time_near_its_start() {
    assert_eq!(allowed(&[]), (16..=66).collect::<Vec<_>>());
}

#[test]
fn text_follows_a_start() {
    assert_eq!(allowed(&[16]), [0, 1, 2, 3, 4, 5, 6, 7, 8, 10]);
}

#[test]
fn an_end_comes_after_its_start_and_a_start_not_before_the_last_end() {
    let texts = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10];
    assert_eq!(allowed(&[16, 1]), [texts.to_vec(), (17..100).collect()].concat());
    assert_eq!(allowed(&[16, 1, 30]), [vec![10], (30..100).collect()].concat());
    assert_eq!(allowed(&[16, 1, 30, 30]), texts);
}

#[test]
fn a_time_is_taken_when_all_times_together_are_likelier_than_any_text() {
    let mut logits = vec![0.0; 100];
    logits[3] = 1.0;
    apply_rules(&mut logits, &[16, 1], &vocabulary());
    assert_eq!(logits[3], f32::NEG_INFINITY);
    assert_eq!(logits[40], 0.0);
}

#[test]
fn likelihoods_add_up() {
    let logits = [1.0, 3.0, f32::NEG_INFINITY, 2.0];
    let sum: f32 = (0..4).map(|it| log_probability(&logits, it).exp()).sum();
    assert!((sum - 1.0).abs() < 1e-6, "{sum}");
    assert_eq!(log_probability(&logits, 99), f32::NEG_INFINITY);
}

#[test]
fn text_lies_between_its_times() {
    let found = split_spans(&[16, 1, 2, 66, 66, 3, 116, 126, 4], &vocabulary());
    let found: Vec<_> =
        found.iter().map(|it| (it.start_s, it.end_s, it.tokens.as_slice())).collect();
    let expected: [(f64, Option<f64>, &[i64]); 3] =
        [(0.0, Some(1.0), &[1, 2]), (1.0, Some(2.0), &[3]), (2.2, None, &[4])];
    assert_eq!(found, expected);
}

/// Expected values from `tests/reference/mel.py`.
#[test]
fn features_are_those_of_the_reference() {
    let sample = |index: usize| {
        let time = index as f64 / 16_000.0;
        (0.3 * (TAU * (200.0 + 900.0 * time) * time).sin()) as f32
    };
    let samples: Vec<f32> = (0..32_000).map(sample).collect();
    let features = MelSpectrogram::new().compute_features(&samples);
    assert_eq!(features.len(), BANDS * FRAMES);
    for (band, frame, expected) in [
        (0, 0, 1.0571),
        (5, 3, 1.2692),
        (10, 50, -0.6604),
        (20, 100, -0.6604),
        (40, 150, -0.6604),
        (60, 199, 1.1715),
        (79, 10, -0.6604),
        (30, 201, -0.2804),
        (0, 2999, -0.6604),
    ] {
        let found: f32 = features[band * FRAMES + frame];
        assert!((found - expected).abs() < 2e-3, "({band}, {frame}): {found}, not {expected}");
    }
}

#[test]
fn tokens_begin_where_the_decoder_listened_for_them() {
    // Four rows, the first of which is a special token; each attends to its own ten frames.
    let listened = |row: usize, frame: usize| f32::from(u8::from(frame / 10 + 1 == row));
    let head: Vec<f32> =
        (0..4).flat_map(|row| (0..40).map(move |frame| listened(row, frame))).collect();
    let starts = starts_s(&[&head, &head], 40, 1..4, 30);
    assert_eq!(starts, [0.0, 0.2, 0.4]);
    assert_eq!(starts_s(&[&head], 40, 1..4, 0), [0.0; 3]);
    assert_eq!(starts_s(&[], 40, 1..3, 30), [0.0; 2]);
}

#[test]
fn a_word_ends_with_its_sentence() {
    let spoken = |start_s: f64, end_s: f64| TimedWord { start_s, end_s, text: String::new() };
    let mut words = [spoken(0.0, 1.0), spoken(1.0, 4.0), spoken(4.0, 5.0)];
    let segment = |start_s: f64, end_s: f64| TimedSegment {
        start_s,
        end_s,
        text: String::new(),
        certainty: None,
    };
    end_with_segments(&mut words, &[segment(0.0, 2.0), segment(3.5, 5.5)]);
    assert_eq!(words, [spoken(0.0, 1.0), spoken(1.0, 2.0), spoken(4.0, 5.0)]);
}
