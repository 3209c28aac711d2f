//! Counts the tokens of a streamed answer, and detects an answer beyond its bound.

use std::collections::BTreeMap;

use engine::{ChatChunk, ChoiceDelta, EngineUsage, FinishReason, TokenEstimator};

use super::ChatCandidate;
use super::credible_usage::{EngineUsageReport, MeasuredUsage};

/// Tolerance above the bound: our estimate may be a fifth too high, and an engine that keeps to the
/// bound must not be cut short.
const SLACK_DIVISOR: u64 = 4;
const SLACK_TOKENS: u64 = 64;

pub(super) struct AnswerMeter {
    /// For all choices together.
    answer_max: u64,
    /// True if that bound was sent to the engine.
    is_bounded: bool,
    /// Initial state of the count of each choice.
    tokens: TokenEstimator,
    choices: BTreeMap<u32, ChoiceMeter>,
    report: EngineUsageReport,
}

struct ChoiceMeter {
    tokens: TokenEstimator,
    is_finished: bool,
}

impl AnswerMeter {
    /// `answer_max` is the bound sent to the engine, per choice.
    pub(super) fn new(candidate: &ChatCandidate, answer_max: Option<u64>) -> AnswerMeter {
        let quote = &candidate.quote;
        let each = answer_max.unwrap_or(quote.answer_max);
        AnswerMeter {
            answer_max: each.saturating_mul(quote.choices),
            is_bounded: answer_max.is_some(),
            tokens: TokenEstimator::for_request(&candidate.request),
            choices: BTreeMap::new(),
            report: EngineUsageReport::None,
        }
    }

    pub(super) fn count_chunk(&mut self, chunk: &ChatChunk) {
        for delta in &chunk.deltas {
            let begin = || ChoiceMeter { tokens: self.tokens.clone(), is_finished: false };
            let choice = self.choices.entry(delta.index).or_insert_with(begin);
            for text in delta.generated_texts() {
                choice.tokens.push(text);
            }
            choice.is_finished |= delta.finish.is_some();
        }
    }

    pub(super) fn note_progress(&mut self, usage: EngineUsage) {
        self.report = EngineUsageReport::OnTheWay(usage);
    }

    pub(super) fn note_total(&mut self, usage: EngineUsage) {
        self.report = EngineUsageReport::Total(usage);
    }

    /// True if the engine has produced more than was requested and paid for.
    pub(super) fn is_over(&self) -> bool {
        let told = match self.report {
            EngineUsageReport::OnTheWay(usage) => usage.completion(),
            EngineUsageReport::Total(_) | EngineUsageReport::None => 0,
        };
        let slack = self.answer_max / SLACK_DIVISOR + SLACK_TOKENS;
        self.answer_max.saturating_add(slack) < self.produced_tokens() || self.answer_max < told
    }

    /// True if every choice that began has ended.
    pub(super) fn is_finished(&self) -> bool {
        self.choices.values().all(|choice| choice.is_finished)
    }

    /// A chunk that finishes every choice that is still open, with the reason `length`.
    pub(super) fn build_closing_chunk(&self) -> ChatChunk {
        let close = |(index, opens): (u32, bool)| ChoiceDelta {
            index,
            opens,
            finish: Some(FinishReason::Length),
            ..ChoiceDelta::default()
        };
        let open = self.choices.iter().filter(|(_, choice)| !choice.is_finished);
        let deltas = open.map(|(index, _)| close((*index, false))).collect();
        ChatChunk { deltas, ..ChatChunk::default() }
    }

    pub(super) fn measured_usage(&self) -> MeasuredUsage {
        MeasuredUsage {
            report: self.report,
            produced: self.produced_tokens(),
            answer_max: self.answer_max,
            is_bounded: self.is_bounded,
        }
    }

    pub(super) fn produced_tokens(&self) -> u64 {
        self.choices.values().map(|choice| choice.tokens.estimated_tokens()).sum()
    }
}
