//! Usage and cost of a request.

use schemars::JsonSchema;
use serde::Serialize;

/// The token usage of a request.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct TokenUsage {
    /// All prompt tokens, including cached ones.
    pub prompt_tokens: u64,
    /// All completion tokens, including reasoning.
    pub completion_tokens: u64,
    pub total_tokens: u64,
    pub prompt_tokens_details: PromptTokensDetails,
    pub completion_tokens_details: CompletionTokensDetails,
}

/// Prompt tokens by category.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct PromptTokensDetails {
    /// Tokens read from the prompt cache.
    pub cached_tokens: u64,
    /// Tokens written to the prompt cache.
    pub cache_creation_input_tokens: u64,
}

/// Completion tokens by category.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct CompletionTokensDetails {
    /// Tokens used for reasoning.
    pub reasoning_tokens: u64,
}

/// The amount charged for a request, by currency.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Cost {
    #[schemars(range(min = 0))]
    pub usd: f64,
    #[schemars(range(min = 0))]
    pub diem: f64,
}
