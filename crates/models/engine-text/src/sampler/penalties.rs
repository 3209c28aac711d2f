//! Penalties that make repeated tokens less likely.

use std::collections::{HashMap, HashSet};

use crate::request::SamplingSettings;

#[derive(Debug)]
pub(super) struct RepetitionPenalties {
    /// Hugging Face's definition: divides, and includes the prompt.
    repetition: f32,
    /// OpenAI's definition: subtracts, and covers only the answer.
    presence: f32,
    frequency: f32,
    prompt: HashSet<u32>,
    answer: HashMap<u32, u32>,
}

impl RepetitionPenalties {
    pub(super) fn new(sampling: &SamplingSettings, prompt: &[u32]) -> RepetitionPenalties {
        // Zero would divide by zero; it is treated as no penalty.
        let repetition = sampling.repetition_penalty.filter(|it| 0.0 < *it).unwrap_or(1.0);
        let prompt =
            if is_one(repetition) { HashSet::new() } else { prompt.iter().copied().collect() };
        RepetitionPenalties {
            repetition,
            presence: sampling.presence_penalty.unwrap_or(0.0),
            frequency: sampling.frequency_penalty.unwrap_or(0.0),
            prompt,
            answer: HashMap::new(),
        }
    }

    pub(super) fn are_none(&self) -> bool {
        is_one(self.repetition) && self.presence.abs() + self.frequency.abs() < f32::EPSILON
    }

    pub(super) fn record_token(&mut self, token: u32) {
        if !self.are_none() {
            *self.answer.entry(token).or_default() += 1;
        }
    }

    pub(super) fn apply(&self, logits: &mut [f32]) {
        let repeated = self.prompt.iter().filter(|token| !self.answer.contains_key(token));
        for token in repeated.chain(self.answer.keys()) {
            if let Some(logit) = logit_mut(logits, *token) {
                let is_likely = 0.0 < *logit;
                *logit =
                    if is_likely { *logit / self.repetition } else { *logit * self.repetition };
            }
        }
        for (token, count) in &self.answer {
            if let Some(logit) = logit_mut(logits, *token) {
                // A count never exceeds the context, which a 32-bit float represents exactly.
                let often = *count as f32;
                *logit -= self.presence + self.frequency * often;
            }
        }
    }
}

fn is_one(value: f32) -> bool {
    (value - 1.0).abs() < f32::EPSILON
}

fn logit_mut(logits: &mut [f32], token: u32) -> Option<&mut f32> {
    logits.get_mut(usize::try_from(token).ok()?)
}
