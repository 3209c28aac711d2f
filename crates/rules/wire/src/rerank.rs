//! `POST /rerank`: orders documents by their relevance to a query, in Cohere's form.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::embeddings::EmbeddingUsage;

/// A query, and the documents to order.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct RerankRequest {
    /// A rerank model's id, a trait or a compatible name.
    #[schemars(length(min = 1))]
    pub model: String,
    #[schemars(length(min = 1))]
    pub query: String,
    /// The documents. Each model has a maximum number, by default 1,000, and a maximum of tokens for
    /// the query and one document together.
    #[schemars(length(min = 1, max = 10000))]
    pub documents: Vec<RerankDocument>,
    /// The number of results. Default: one for each document.
    #[schemars(range(min = 1))]
    pub top_n: Option<u64>,
    /// Returns the text of each document with its score. Default: false.
    #[schemars(extend("default" = false))]
    pub return_documents: Option<bool>,
    /// Cuts longer documents to about this many tokens, by our own count. Default: documents are not
    /// cut, and one that is too long for the model is refused.
    #[schemars(range(min = 1))]
    pub max_tokens_per_doc: Option<u64>,
    /// Not supported: no provider's answer has spans. Must be absent or null.
    pub relevant_spans: Option<Value>,
}

/// A document: its text, or an object with its text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RerankDocument {
    Text(#[schemars(length(min = 1))] String),
    Object(RerankText),
}

/// The text of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RerankText {
    #[schemars(length(min = 1))]
    pub text: String,
}

/// The scores, the highest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RerankList {
    pub id: String,
    pub model: String,
    pub results: Vec<RerankResult>,
    pub meta: RerankMeta,
    pub usage: EmbeddingUsage,
    pub cost: crate::chat::Cost,
}

/// The score of a document.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RerankResult {
    /// The position of the document in the request.
    pub index: usize,
    /// Higher is more relevant. The range depends on the model; most give 0 to 1.
    pub relevance_score: f64,
    /// Present with `return_documents`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<RerankText>,
}

/// The form of the response, and the tokens.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RerankMeta {
    pub api_version: RerankApiVersion,
    pub billed_units: RerankBilledUnits,
    pub tokens: RerankTokens,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct RerankApiVersion {
    /// Always `2`.
    pub version: &'static str,
}

/// The units that are billed, if the model has a price for them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RerankBilledUnits {
    pub input_tokens: u64,
    pub documents: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct RerankTokens {
    pub input_tokens: u64,
    /// Always 0.
    pub output_tokens: u64,
}
