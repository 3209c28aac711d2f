//! The tokens of an embedding: estimated, upper bound, and billed.

use engine::{EmbeddingInput, EngineUsage};

/// Upper bound per input for tokens that tokenizers and model instructions add.
const TOKENS_AROUND: u64 = 16;

/// The tokens of all inputs together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EmbeddingTokens {
    pub(super) estimate: u64,
    /// An upper bound: a token stands for at least one byte of text.
    pub(super) most: u64,
}

/// The estimate that the specification's limit is checked against: 0.95 tokens per 3.2 characters,
/// rounded up.
pub(super) fn text_estimate(text: &str) -> u64 {
    let characters = widen_count(text.chars().count());
    characters.saturating_mul(19).div_ceil(64)
}

impl EmbeddingTokens {
    pub(super) fn from_input(input: &EmbeddingInput) -> EmbeddingTokens {
        let (estimates, sizes): (Vec<u64>, Vec<u64>) = match input {
            EmbeddingInput::Texts(texts) => {
                texts.iter().map(|text| (text_estimate(text), widen_count(text.len()))).unzip()
            }
            EmbeddingInput::Tokens(lists) => {
                lists.iter().map(|list| (widen_count(list.len()), widen_count(list.len()))).unzip()
            }
        };
        let around = TOKENS_AROUND.saturating_mul(widen_count(input.len()));
        EmbeddingTokens {
            estimate: sum_counts(&estimates),
            most: sum_counts(&sizes).saturating_add(around),
        }
    }

    /// The engine's count if it is credible, else our estimate. Uses the total, because some
    /// servers report only that. A text is never free, and an impossible report must not overcharge
    /// the caller.
    pub(super) fn billed_tokens(self, report: Option<EngineUsage>) -> u64 {
        let told = report.map(EngineUsage::total);
        told.filter(|told| 0 < *told && *told <= self.most).unwrap_or(self.estimate)
    }
}

fn sum_counts(counts: &[u64]) -> u64 {
    counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
}

fn widen_count(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
