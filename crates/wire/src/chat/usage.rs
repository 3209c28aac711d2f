//! What a request used and what it cost.

use schemars::JsonSchema;
use serde::Serialize;

/// The tokens of a request.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct TokenUsage {
    /// All prompt tokens, cached ones included.
    pub prompt_tokens: u64,
    /// All completion tokens, reasoning included.
    pub completion_tokens: u64,
    pub total_tokens: u64,
    pub prompt_tokens_details: PromptTokensDetails,
    pub completion_tokens_details: CompletionTokensDetails,
}

/// Parts of the prompt tokens.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct PromptTokensDetails {
    /// Read from the prompt cache.
    pub cached_tokens: u64,
    /// Written to the prompt cache.
    pub cache_creation_input_tokens: u64,
}

/// Parts of the completion tokens.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct CompletionTokensDetails {
    /// Spent on thinking.
    pub reasoning_tokens: u64,
}

/// What was charged for a request, by the currency that paid.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Cost {
    #[schemars(range(min = 0))]
    pub usd: f64,
    #[schemars(range(min = 0))]
    pub diem: f64,
}
