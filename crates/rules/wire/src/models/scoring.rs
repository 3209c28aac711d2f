//! Rerank and moderation models.

use schemars::JsonSchema;
use serde::Serialize;

use super::pricing::Amount;
use super::spec::CommonSpec;

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RerankSpec {
    #[serde(flatten)]
    pub common: CommonSpec,
    /// The maximum number of tokens of the query and one document together.
    pub max_input_tokens: u64,
    /// The maximum number of documents of a request.
    pub max_documents: u64,
    pub pricing: RerankPricing,
}

/// Prices of rerank models. Both apply to a request.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RerankPricing {
    /// Per million tokens. The query counts once for each document.
    pub input: Amount,
    /// Per thousand documents, charged for each document.
    pub per_thousand_documents: Amount,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModerationSpec {
    #[serde(flatten)]
    pub common: CommonSpec,
    /// The maximum number of tokens of one text.
    pub max_input_tokens: u64,
    pub pricing: ModerationPricing,
}

/// Prices of moderation models.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ModerationPricing {
    /// Per million tokens.
    pub input: Amount,
}
