//! Token counts of the Messages API, whose input count excludes cached tokens.

use engine::{EngineUsage, UsageReport};
use serde::Deserialize;

use crate::answer_parts::check_report;

/// The counts so far: each event replaces the fields that it contains.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub(super) struct AnthropicTokenCounts {
    input_tokens: Option<f64>,
    output_tokens: Option<f64>,
    cache_read_input_tokens: Option<f64>,
    cache_creation_input_tokens: Option<f64>,
    cache_creation: Option<CacheCreation>,
}

/// Tokens written to the cache, by lifetime.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
struct CacheCreation {
    ephemeral_1h_input_tokens: Option<f64>,
}

impl AnthropicTokenCounts {
    pub(super) fn update(&mut self, newer: AnthropicTokenCounts) {
        self.input_tokens = newer.input_tokens.or(self.input_tokens);
        self.output_tokens = newer.output_tokens.or(self.output_tokens);
        self.cache_read_input_tokens =
            newer.cache_read_input_tokens.or(self.cache_read_input_tokens);
        self.cache_creation_input_tokens =
            newer.cache_creation_input_tokens.or(self.cache_creation_input_tokens);
        self.cache_creation = newer.cache_creation.or(self.cache_creation);
    }

    /// Returns `None` if counts are missing or implausible.
    pub(super) fn to_usage(self) -> Option<EngineUsage> {
        let cached = self.cache_read_input_tokens.unwrap_or(0.0);
        let cache_creation = self.cache_creation_input_tokens.unwrap_or(0.0);
        let report = UsageReport {
            prompt: self.input_tokens? + cached + cache_creation,
            completion: self.output_tokens?,
            total: None,
            cached,
            cache_creation,
            cache_creation_1h: self
                .cache_creation
                .and_then(|it| it.ephemeral_1h_input_tokens)
                .unwrap_or(0.0),
            reasoning: 0.0,
        };
        check_report(report)
    }
}
