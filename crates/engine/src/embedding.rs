//! Texts in, vectors out.

use crate::Usage;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingRequest {
    pub input: EmbeddingInput,
    /// The length each vector should have, for models that can shorten theirs.
    pub dimensions: Option<u32>,
}

/// What to embed: one vector per entry, in the same order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmbeddingInput {
    Texts(Vec<String>),
    /// Texts the caller has already split into the model's own tokens.
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

/// One vector per entry, in the order asked, all of the same length.
#[derive(Debug, Clone, PartialEq)]
pub struct EmbeddingAnswer {
    pub vectors: Vec<Vec<f32>>,
    pub usage: Option<Usage>,
}
