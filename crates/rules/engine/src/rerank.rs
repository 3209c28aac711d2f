//! Rerank requests and responses.

use crate::EngineUsage;

/// Documents to score by their relevance to a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RerankRequest {
    pub query: String,
    pub documents: Vec<String>,
    /// Set if the caller lets the engine cut documents that are too long for the model.
    pub truncate: bool,
}

/// One finite score per document, in the order of the request.
#[derive(Debug, Clone, PartialEq)]
pub struct RerankAnswer {
    pub scores: Vec<f64>,
    pub usage: Option<EngineUsage>,
}
