//! The token usage that an engine reports, and its validation.

/// More tokens than any model can process in one request; reports above it are rejected.
const TOKENS_MAX: u64 = 100_000_000;

/// Tokens of one request by class. The classes nest: cached and cache-creation tokens are part of
/// the prompt, reasoning tokens part of the completion, so a price never counts one twice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EngineUsage {
    prompt: u64,
    completion: u64,
    cached: u64,
    cache_creation: u64,
    cache_creation_1h: u64,
    reasoning: u64,
}

/// The numbers as an engine reported them, not yet validated.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct UsageReport {
    /// All prompt tokens, including cached ones.
    pub prompt: f64,
    pub completion: f64,
    /// Sum of prompt and completion, if the engine reports it.
    pub total: Option<f64>,
    pub cached: f64,
    pub cache_creation: f64,
    /// The part of `cache_creation` that is cached for one hour.
    pub cache_creation_1h: f64,
    pub reasoning: f64,
}

/// A report with a negative, fractional or implausibly large number. It is never billed: the
/// receiver estimates the usage itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the engine's usage is not credible: {what} tokens are negative, fractional or absurd")]
pub struct ImplausibleUsage {
    pub what: &'static str,
}

impl EngineUsage {
    /// Usage without cache or reasoning tokens, for our own estimates.
    pub fn from_counts(prompt: u64, completion: u64) -> EngineUsage {
        EngineUsage { prompt, completion, ..EngineUsage::default() }
    }

    /// Validates each number of a report. A detail larger than its total is reduced to it.
    pub fn from_report(report: UsageReport) -> Result<EngineUsage, ImplausibleUsage> {
        let prompt = check_token_count(report.prompt, "prompt")?;
        let told = check_token_count(report.completion, "completion")?;
        let total = check_token_count(report.total.unwrap_or(0.0), "total")?;
        // Some engines leave reasoning out of `completion` and count it only in `total`.
        let completion = told.max(total.saturating_sub(prompt));
        let cached = check_token_count(report.cached, "cached")?.min(prompt);
        let cache_creation =
            check_token_count(report.cache_creation, "cache creation")?.min(prompt - cached);
        let cache_creation_1h =
            check_token_count(report.cache_creation_1h, "cache creation")?.min(cache_creation);
        let reasoning = check_token_count(report.reasoning, "reasoning")?.min(completion);
        Ok(EngineUsage { prompt, completion, cached, cache_creation, cache_creation_1h, reasoning })
    }

    /// All prompt tokens, including cached ones.
    pub fn prompt(self) -> u64 {
        self.prompt
    }

    /// All completion tokens, including reasoning.
    pub fn completion(self) -> u64 {
        self.completion
    }

    /// Prompt tokens read from a cache.
    pub fn cached(self) -> u64 {
        self.cached
    }

    /// Prompt tokens written to a cache.
    pub fn cache_creation(self) -> u64 {
        self.cache_creation
    }

    /// Prompt tokens written to a cache for one hour.
    pub fn cache_creation_1h(self) -> u64 {
        self.cache_creation_1h
    }

    /// Returns a copy with other completion tokens; reasoning is reduced to fit.
    pub fn with_completion(self, completion: u64) -> EngineUsage {
        EngineUsage { completion, reasoning: self.reasoning.min(completion), ..self }
    }

    /// Completion tokens used for reasoning.
    pub fn reasoning(self) -> u64 {
        self.reasoning
    }

    pub fn total(self) -> u64 {
        self.prompt.saturating_add(self.completion)
    }

    /// The sum for two requests with separate prompts.
    pub fn plus_request(self, other: EngineUsage) -> EngineUsage {
        EngineUsage {
            prompt: self.prompt.saturating_add(other.prompt),
            completion: self.completion.saturating_add(other.completion),
            cached: self.cached.saturating_add(other.cached),
            cache_creation: self.cache_creation.saturating_add(other.cache_creation),
            cache_creation_1h: self.cache_creation_1h.saturating_add(other.cache_creation_1h),
            reasoning: self.reasoning.saturating_add(other.reasoning),
        }
    }

    /// The sum for two completions of one prompt. The prompt is counted once, from the larger
    /// report.
    pub fn plus_choice(self, other: EngineUsage) -> EngineUsage {
        let larger = if self.prompt < other.prompt { other } else { self };
        EngineUsage {
            completion: self.completion.saturating_add(other.completion),
            reasoning: self.reasoning.saturating_add(other.reasoning),
            ..larger
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the number was just seen to be whole and between 0 and TOKENS_MAX"
)]
fn check_token_count(tokens: f64, what: &'static str) -> Result<u64, ImplausibleUsage> {
    let is_possible =
        tokens.is_finite() && tokens.fract() == 0.0 && 0.0 <= tokens && tokens <= TOKENS_MAX as f64;
    if is_possible { Ok(tokens as u64) } else { Err(ImplausibleUsage { what }) }
}

#[cfg(test)]
mod tests;
