//! Samples the next token from the model's logits.

mod likelihood;
mod penalties;

use crate::constraint::{ConstraintError, GrammarConstraint};
use crate::request::SamplingSettings;

pub(crate) use self::likelihood::compute_logprobs;
use self::penalties::RepetitionPenalties;

/// Lower than OpenAI's default of 1, at which small models lose track.
const TEMPERATURE: f32 = 0.7;
/// A token this many nats below the most likely one is never sampled: e^-24 is less than the
/// rounding error of a sum of 32-bit weights.
const NATS_BELOW_MAX: f32 = 24.0;

/// Samples the tokens of one choice.
#[derive(Debug)]
pub(crate) struct TokenSampler {
    sampling: SamplingSettings,
    penalties: RepetitionPenalties,
    random: fastrand::Rng,
    /// Buffers kept between tokens to avoid allocations.
    adjusted: Vec<f32>,
    candidates: Vec<TokenCandidate>,
}

/// A token and its weight; the most likely token has weight 1.
#[derive(Debug, Clone, Copy)]
struct TokenCandidate {
    token: u32,
    weight: f32,
}

impl TokenSampler {
    /// The prompt counts for the repetition penalty.
    pub(crate) fn new(sampling: SamplingSettings, prompt: &[u32], seed: u64) -> TokenSampler {
        TokenSampler {
            sampling,
            penalties: RepetitionPenalties::new(&sampling, prompt),
            random: fastrand::Rng::with_seed(seed),
            adjusted: Vec::new(),
            candidates: Vec::new(),
        }
    }

    /// Samples a token and records it for the penalties.
    pub(crate) fn sample_token(
        &mut self,
        logits: &[f32],
        constraint: Option<&mut GrammarConstraint>,
    ) -> Result<u32, ConstraintError> {
        let is_plain = self.penalties.are_none() && constraint.is_none();
        let token = if is_plain {
            self.pick_token(logits)
        } else {
            let mut adjusted = std::mem::take(&mut self.adjusted);
            adjusted.clear();
            adjusted.extend_from_slice(logits);
            self.penalties.apply(&mut adjusted);
            let masked =
                constraint.map_or(Ok(()), |constraint| constraint.mask_logits(&mut adjusted));
            let token = self.pick_token(&adjusted);
            self.adjusted = adjusted;
            masked?;
            token
        };
        self.penalties.record_token(token);
        Ok(token)
    }

    fn pick_token(&mut self, logits: &[f32]) -> u32 {
        let (likeliest, highest) = likelihood::find_most_likely(logits);
        let temperature = self.compute_temperature(logits, highest);
        if temperature <= 0.0 {
            return likeliest;
        }
        self.gather_candidates(logits, highest, temperature);
        self.keep_top();
        self.draw_by_weight().unwrap_or(likeliest)
    }

    /// With a range, the temperature falls with the model's certainty.
    fn compute_temperature(&self, logits: &[f32], highest: f32) -> f32 {
        let plain = self.sampling.temperature.unwrap_or(TEMPERATURE);
        let lowest = self.sampling.temperature_min.unwrap_or(plain);
        let most = self.sampling.temperature_max.unwrap_or(plain);
        if most <= lowest {
            // A single bound still limits the temperature.
            return plain.max(lowest).min(most.max(lowest));
        }
        let unsureness = likelihood::entropy_share(logits, highest);
        lowest + (most - lowest) * unsureness
    }

    /// Collects the tokens that are likely enough, weighted at this temperature.
    fn gather_candidates(&mut self, logits: &[f32], highest: f32, temperature: f32) {
        let min_p = self.sampling.min_p.unwrap_or(0.0);
        let nats = if 0.0 < min_p { NATS_BELOW_MAX.min(-min_p.ln()) } else { NATS_BELOW_MAX };
        // Slightly lower, so that a token exactly at the bound is not lost to rounding.
        let floor = highest - (nats * 1.000_001) * temperature;
        self.candidates.clear();
        for (token, logit) in (0..).zip(logits) {
            if floor <= *logit {
                let weight = ((logit - highest) / temperature).exp();
                self.candidates.push(TokenCandidate { token, weight });
            }
        }
    }

    /// Keeps the tokens of `top_k` and `top_p`.
    fn keep_top(&mut self) {
        let top_k = self.sampling.top_k.filter(|top_k| 0 < *top_k);
        let top_k = top_k.map_or(usize::MAX, |top_k| usize::try_from(top_k).unwrap_or(usize::MAX));
        if top_k < self.candidates.len() {
            self.candidates.select_nth_unstable_by(top_k, heavier_first);
            self.candidates.truncate(top_k);
        }
        let Some(top_p) = self.sampling.top_p.filter(|top_p| *top_p < 1.0) else { return };
        self.candidates.sort_unstable_by(heavier_first);
        let total: f32 = self.candidates.iter().map(|it| it.weight).sum();
        let mut sum = 0.0;
        let is_enough = |candidate: &TokenCandidate| {
            sum += candidate.weight;
            top_p * total <= sum
        };
        // The first is always kept.
        let last = self.candidates.iter().position(is_enough);
        self.candidates.truncate(last.map_or(usize::MAX, |last| last + 1));
    }

    fn draw_by_weight(&mut self) -> Option<u32> {
        let total: f32 = self.candidates.iter().map(|it| it.weight).sum();
        let mut left = self.random.f32() * total;
        for candidate in &self.candidates {
            left -= candidate.weight;
            if left < 0.0 {
                return Some(candidate.token);
            }
        }
        // Reached only through rounding errors.
        self.candidates.last().map(|it| it.token)
    }
}

/// Equal weights are in vocabulary order, so that sampling is reproducible.
fn heavier_first(a: &TokenCandidate, b: &TokenCandidate) -> std::cmp::Ordering {
    b.weight.total_cmp(&a.weight).then(a.token.cmp(&b.token))
}

#[cfg(test)]
mod tests;
