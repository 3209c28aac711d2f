//! Embedding requests and responses.

use crate::EngineUsage;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingRequest {
    pub input: EmbeddingInput,
    /// The wanted vector length, for models that can shorten their vectors.
    pub dimensions: Option<u32>,
}

/// Inputs to embed: one vector per entry, in the same order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmbeddingInput {
    Texts(Vec<String>),
    /// Inputs that the caller has already tokenized with the model's vocabulary.
    Tokens(Vec<Vec<u32>>),
}

impl EmbeddingInput {
    pub fn len(&self) -> usize {
        match self {
            EmbeddingInput::Texts(texts) => texts.len(),
            EmbeddingInput::Tokens(lists) => lists.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One vector per entry, in input order, all of the same length.
#[derive(Debug, Clone, PartialEq)]
pub struct EmbeddingAnswer {
    pub vectors: Vec<Vec<f32>>,
    pub usage: Option<EngineUsage>,
}
