//! `POST /embeddings`: converts texts to vectors.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The texts to embed, and the model.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct EmbeddingRequest {
    /// A text, an array of texts, an array of tokens, or an array of token arrays. Must not be
    /// empty; at most 8192 tokens per input and 2048 inputs.
    pub input: EmbeddingInput,
    /// A model's id, a trait or a compatible name.
    #[schemars(length(min = 1))]
    pub model: String,
    /// The number of dimensions of each vector, for models that support shorter vectors.
    #[schemars(range(min = 1))]
    pub dimensions: Option<u32>,
    /// The encoding of the vectors. Default: `float`.
    #[schemars(extend("default" = "float"))]
    pub encoding_format: Option<EncodingFormat>,
    /// Accepted for compatibility and discarded.
    pub user: Option<String>,
}

/// One input or several.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum EmbeddingInput {
    Text(#[schemars(length(min = 1))] String),
    Texts(#[schemars(length(min = 1, max = 2048), inner(length(min = 1)))] Vec<String>),
    /// One input of at most 2048 tokens. An array in an array may have 8192.
    Tokens(#[schemars(length(min = 1))] Vec<u32>),
    TokenLists(#[schemars(length(min = 1, max = 2048), inner(length(min = 1)))] Vec<Vec<u32>>),
}

/// The encoding of vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EncodingFormat {
    /// An array of numbers.
    Float,
    /// Little-endian 32-bit floats in base64.
    Base64,
}

/// The vectors, in the order of the inputs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EmbeddingList {
    pub data: Vec<Embedding>,
    pub model: String,
    /// Always `list`.
    pub object: &'static str,
    pub usage: EmbeddingUsage,
    pub cost: crate::chat::Cost,
}

/// One vector.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Embedding {
    pub embedding: Vector,
    pub index: usize,
    /// Always `embedding`.
    pub object: &'static str,
}

/// A vector in the requested encoding.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Vector {
    Float(Vec<f32>),
    Base64(String),
}

/// The number of tokens that were read.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EmbeddingUsage {
    pub prompt_tokens: u64,
    pub total_tokens: u64,
}
