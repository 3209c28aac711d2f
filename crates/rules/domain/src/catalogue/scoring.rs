//! Specifications of models that score texts: rerankers and moderation models.

use crate::pricing::{RerankPrice, UnitRate};

#[derive(Debug, Clone, PartialEq)]
pub struct RerankSpec {
    /// For the query and one document together.
    pub max_input_tokens: u64,
    /// For one request.
    pub max_documents: u64,
    pub price: RerankPrice,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ModerationSpec {
    /// For one text.
    pub max_input_tokens: u64,
    /// Per token.
    pub price: UnitRate,
}
