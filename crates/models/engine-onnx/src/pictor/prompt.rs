//! Encodes a prompt for the generator: one vector per token, and a pooled one.

use std::path::Path;

use super::{PictorError, TEXT_TOKENS, TEXT_WIDTH};
use crate::embedding::OverflowPolicy;
use crate::embedding::bert::BertEncoder;
use crate::embedding::pooling::mean_normalised;
use crate::embedding::tokens::EmbeddingTokenizer;
use crate::runtime::OnnxRuntime;
use crate::tensors::NamedTensors;

pub(super) struct PromptEncoder {
    tokens: EmbeddingTokenizer,
    bert: BertEncoder,
    /// The pooled vector of an empty prompt.
    nothing: Vec<f32>,
}

/// An encoded prompt, padded to [`TEXT_TOKENS`].
#[derive(Clone)]
pub(super) struct PromptCondition {
    pub(super) states: Vec<f32>,
    /// 1 for a token, 0 for padding.
    pub(super) mask: Vec<f32>,
    pub(super) whole: Vec<f32>,
}

impl PromptCondition {
    /// True for an empty prompt.
    pub(super) fn is_empty(&self) -> bool {
        self.mask.iter().all(|it| *it == 0.0)
    }
}

impl PromptEncoder {
    pub(super) fn load(
        runtime: &OnnxRuntime,
        folder: &Path,
        generator: &[u8],
    ) -> Result<PromptEncoder, PictorError> {
        let tensors = NamedTensors::parse(generator).map_err(PictorError::Weights)?;
        let nothing = tensors.read_matrix("null", &[TEXT_WIDTH]).map_err(PictorError::Weights)?;
        Ok(PromptEncoder {
            tokens: EmbeddingTokenizer::load(folder, TEXT_TOKENS)?,
            bert: BertEncoder::load(runtime, folder)?,
            nothing: scale_to_unit_variance(nothing.values),
        })
    }

    pub(super) fn encode_prompt(&mut self, prompt: &str) -> Result<PromptCondition, PictorError> {
        let mut condition = PromptCondition {
            states: vec![0.0; TEXT_TOKENS * TEXT_WIDTH],
            mask: vec![0.0; TEXT_TOKENS],
            whole: self.nothing.clone(),
        };
        if prompt.trim().is_empty() {
            return Ok(condition);
        }
        let ids = self.tokens.encode(0, prompt, OverflowPolicy::Truncate)?;
        let states = self.bert.token_states(&[&ids], ids.len())?;
        condition.whole = scale_to_unit_variance(mean_normalised(&states, TEXT_WIDTH, ids.len()));
        condition.states[..states.len()].copy_from_slice(&states);
        condition.mask[..ids.len()].fill(1.0);
        Ok(condition)
    }
}

/// Scales a vector of length 1 to the unit variance that the generator expects.
fn scale_to_unit_variance(mut vector: Vec<f32>) -> Vec<f32> {
    let scale = (TEXT_WIDTH as f32).sqrt();
    vector.iter_mut().for_each(|it| *it *= scale);
    vector
}
