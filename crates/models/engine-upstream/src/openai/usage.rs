//! Parses the usage object, with the field names of different servers.

use engine::{EngineUsage, UsageReport};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::answer_parts::{TokenCountBody, read_token_counts};

/// Parses a usage object. Returns `None` if it is malformed, empty or implausible.
pub(crate) fn read_usage(usage: &RawValue) -> Option<EngineUsage> {
    read_token_counts::<UsageBody>(usage)
}

#[derive(Deserialize)]
struct UsageBody {
    prompt_tokens: Option<f64>,
    completion_tokens: Option<f64>,
    total_tokens: Option<f64>,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek's name for cached tokens.
    prompt_cache_hit_tokens: Option<f64>,
    cache_creation_input_tokens: Option<f64>,
    reasoning_tokens: Option<f64>,
}

#[derive(Deserialize, Default)]
struct PromptDetails {
    cached_tokens: Option<f64>,
    cache_creation_input_tokens: Option<f64>,
    /// OpenRouter's name for tokens written to a cache.
    cache_write_tokens: Option<f64>,
}

#[derive(Deserialize, Default)]
struct CompletionDetails {
    reasoning_tokens: Option<f64>,
}

impl TokenCountBody for UsageBody {
    fn into_report(self) -> Option<UsageReport> {
        let prompt_details = self.prompt_tokens_details.unwrap_or_default();
        let completion_details = self.completion_tokens_details.unwrap_or_default();
        let cache_creation = prompt_details
            .cache_creation_input_tokens
            .or(prompt_details.cache_write_tokens)
            .or(self.cache_creation_input_tokens);
        let cached = prompt_details.cached_tokens.or(self.prompt_cache_hit_tokens);
        let reasoning = completion_details.reasoning_tokens.or(self.reasoning_tokens);
        Some(UsageReport {
            prompt: self.prompt_tokens?,
            completion: self.completion_tokens.unwrap_or(0.0),
            total: self.total_tokens,
            cached: cached.unwrap_or(0.0),
            cache_creation: cache_creation.unwrap_or(0.0),
            cache_creation_1h: 0.0,
            reasoning: reasoning.unwrap_or(0.0),
        })
    }
}
