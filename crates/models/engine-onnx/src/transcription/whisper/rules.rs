//! Rules for the next token: text is enclosed in timestamps, which never decrease.

use super::vocabulary::{WhisperVocabulary, token_index};

/// Maximum of a stretch's first timestamp, in steps.
const FIRST_TIME_STEPS_MAX: i64 = 50;
const STEP_S: f64 = 0.02;

/// Text with its timestamps; the last span may lack its end.
pub(super) struct TimedSpan {
    pub(super) start_s: f64,
    pub(super) end_s: Option<f64>,
    pub(super) tokens: Vec<i64>,
}

/// Masks the logits of tokens that may not follow `tokens`, which excludes the initial special
/// tokens.
pub(super) fn apply_rules(logits: &mut [f32], tokens: &[i64], vocabulary: &WhisperVocabulary) {
    let times = vocabulary.times;
    for token in &vocabulary.never {
        forbid_tokens(logits, *token..token + 1);
    }
    forbid_tokens(logits, vocabulary.no_times..vocabulary.no_times + 1);
    let Some(last) = tokens.last().copied() else {
        for token in &vocabulary.never_first {
            forbid_tokens(logits, *token..token + 1);
        }
        forbid_tokens(logits, 0..times);
        forbid_tokens(logits, times + FIRST_TIME_STEPS_MAX + 1..i64::MAX);
        return;
    };
    let before_last = tokens.len().checked_sub(2).map(|at| tokens[at]);
    let is_time = times <= last;
    // The first timestamp is single; later an end is followed by a start.
    let was_time = match before_last {
        Some(token) => times <= token,
        None => true,
    };
    if is_time && was_time {
        forbid_tokens(logits, times..i64::MAX);
    } else if is_time {
        forbid_tokens(logits, 0..vocabulary.end);
    }
    if let Some(newest) = tokens.iter().rev().find(|it| times <= **it) {
        // A start may equal the previous end, but an end must be after its start.
        let lowest = if is_time && !was_time { *newest } else { newest + 1 };
        forbid_tokens(logits, times..lowest);
    }
    if is_time_likelier(logits, times) {
        forbid_tokens(logits, 0..times);
    }
}

/// The log probability of a token.
pub(super) fn log_probability(logits: &[f32], token: i64) -> f32 {
    let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = logits.iter().map(|it| (it - highest).exp()).sum();
    let logit = token_index(token).and_then(|it| logits.get(it)).copied();
    logit.unwrap_or(f32::NEG_INFINITY) - highest - sum.ln()
}

pub(super) fn split_spans(tokens: &[i64], vocabulary: &WhisperVocabulary) -> Vec<TimedSpan> {
    let mut spans: Vec<TimedSpan> = Vec::new();
    let mut open = TimedSpan { start_s: 0.0, end_s: None, tokens: Vec::new() };
    for token in tokens {
        if *token < vocabulary.times {
            open.tokens.push(*token);
            continue;
        }
        let time_s = (token - vocabulary.times) as f64 * STEP_S;
        if open.tokens.is_empty() {
            open.start_s = time_s;
            continue;
        }
        let next = TimedSpan { start_s: time_s, end_s: None, tokens: Vec::new() };
        let mut done = std::mem::replace(&mut open, next);
        done.end_s = Some(time_s);
        spans.push(done);
    }
    if !open.tokens.is_empty() {
        spans.push(open);
    }
    spans
}

/// True if all timestamps together are more likely than the most likely text token.
fn is_time_likelier(logits: &[f32], times: i64) -> bool {
    let Some((texts, times)) = token_index(times).and_then(|it| logits.split_at_checked(it)) else {
        return false;
    };
    let highest = |it: &[f32]| it.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let highest_time = highest(times);
    if highest_time == f32::NEG_INFINITY {
        return false;
    }
    let sum: f32 = times.iter().map(|it| (it - highest_time).exp()).sum();
    highest(texts) < highest_time + sum.ln()
}

fn forbid_tokens(logits: &mut [f32], tokens: std::ops::Range<i64>) {
    let end = token_index(tokens.end).unwrap_or(0).min(logits.len());
    let start = token_index(tokens.start).unwrap_or(0).min(end);
    logits[start..end].fill(f32::NEG_INFINITY);
}
