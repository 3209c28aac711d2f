//! Counts a streamed answer as it passes: what was produced, and when it is too much.

use std::collections::BTreeMap;

use engine::{ChatChunk, ChoiceDelta, FinishReason, TokenMeter, Usage};

use super::Candidate;
use super::credible_usage::{Report, Used};

/// The estimate may count a text a fifth too high, and an engine that keeps to the bound must not
/// be cut short for it.
const SLACK_DIVISOR: u64 = 4;
const SLACK_TOKENS: u64 = 64;

pub(super) struct Meter {
    /// For all choices together.
    answer_max: u64,
    /// Whether the engine was told of that bound.
    is_bounded: bool,
    /// What each choice begins to be counted with.
    tokens: TokenMeter,
    choices: BTreeMap<u32, ChoiceMeter>,
    report: Report,
}

struct ChoiceMeter {
    tokens: TokenMeter,
    is_finished: bool,
}

impl Meter {
    /// `answer_max` is what was asked of the engine for each choice.
    pub(super) fn new(candidate: &Candidate, answer_max: Option<u64>) -> Meter {
        let quote = &candidate.quote;
        let each = answer_max.unwrap_or(quote.answer_max);
        Meter {
            answer_max: each.saturating_mul(quote.choices),
            is_bounded: answer_max.is_some(),
            tokens: TokenMeter::of(&candidate.request),
            choices: BTreeMap::new(),
            report: Report::None,
        }
    }

    pub(super) fn count(&mut self, chunk: &ChatChunk) {
        for delta in &chunk.deltas {
            let begin = || ChoiceMeter { tokens: self.tokens.clone(), is_finished: false };
            let choice = self.choices.entry(delta.index).or_insert_with(begin);
            for text in delta.texts() {
                choice.tokens.push(text);
            }
            choice.is_finished |= delta.finish.is_some();
        }
    }

    pub(super) fn note_progress(&mut self, usage: Usage) {
        self.report = Report::OnTheWay(usage);
    }

    pub(super) fn note_total(&mut self, usage: Usage) {
        self.report = Report::Total(usage);
    }

    /// The engine writes on beyond what it was asked for, and beyond what is paid for.
    pub(super) fn is_over(&self) -> bool {
        let told = match self.report {
            Report::OnTheWay(usage) => usage.completion(),
            Report::Total(_) | Report::None => 0,
        };
        let slack = self.answer_max / SLACK_DIVISOR + SLACK_TOKENS;
        self.answer_max.saturating_add(slack) < self.produced() || self.answer_max < told
    }

    /// A chunk that ends every choice that is still open.
    pub(super) fn closing(&self) -> ChatChunk {
        let close = |(index, opens): (u32, bool)| ChoiceDelta {
            index,
            opens,
            finish: Some(FinishReason::Length),
            ..ChoiceDelta::default()
        };
        let open = self.choices.iter().filter(|(_, choice)| !choice.is_finished);
        let deltas = open.map(|(index, _)| close((*index, false))).collect();
        ChatChunk { deltas, verbatim: None }
    }

    pub(super) fn used(&self) -> Used {
        Used {
            report: self.report,
            produced: self.produced(),
            answer_max: self.answer_max,
            is_bounded: self.is_bounded,
        }
    }

    pub(super) fn produced(&self) -> u64 {
        self.choices.values().map(|choice| choice.tokens.tokens()).sum()
    }
}
