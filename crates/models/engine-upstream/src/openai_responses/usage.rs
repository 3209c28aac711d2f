//! Token counts of the Responses API.

use engine::{EngineUsage, UsageReport};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::answer_parts::{TokenCountBody, read_token_counts};

/// Parses a usage object. Returns `None` if it is malformed, empty or implausible.
pub(super) fn read_usage(usage: &RawValue) -> Option<EngineUsage> {
    read_token_counts::<ResponseTokenCounts>(usage)
}

#[derive(Deserialize)]
struct ResponseTokenCounts {
    input_tokens: Option<f64>,
    output_tokens: Option<f64>,
    total_tokens: Option<f64>,
    input_tokens_details: Option<InputTokenDetails>,
    output_tokens_details: Option<OutputTokenDetails>,
}

#[derive(Deserialize, Default)]
struct InputTokenDetails {
    cached_tokens: Option<f64>,
    cache_write_tokens: Option<f64>,
}

#[derive(Deserialize, Default)]
struct OutputTokenDetails {
    reasoning_tokens: Option<f64>,
}

impl TokenCountBody for ResponseTokenCounts {
    fn into_report(self) -> Option<UsageReport> {
        let input = self.input_tokens_details.unwrap_or_default();
        let output = self.output_tokens_details.unwrap_or_default();
        Some(UsageReport {
            prompt: self.input_tokens?,
            completion: self.output_tokens.unwrap_or(0.0),
            total: self.total_tokens,
            cached: input.cached_tokens.unwrap_or(0.0),
            cache_creation: input.cache_write_tokens.unwrap_or(0.0),
            cache_creation_1h: 0.0,
            reasoning: output.reasoning_tokens.unwrap_or(0.0),
        })
    }
}
