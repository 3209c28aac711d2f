//! Encodes a prompt for the generator: one vector per token, and a pooled one.

use std::path::Path;

use super::{PictorError, TEXT_TOKENS, TEXT_WIDTH};
use crate::embedding::Overflow;
use crate::embedding::bert::Bert;
use crate::embedding::pooling::mean_normalised;
use crate::embedding::tokens::Tokens;
use crate::runtime::Runtime;
use crate::tensors::Tensors;

pub(super) struct Reader {
    tokens: Tokens,
    bert: Bert,
    /// The pooled vector of an empty prompt.
    nothing: Vec<f32>,
}

/// An encoded prompt, padded to [`TEXT_TOKENS`].
#[derive(Clone)]
pub(super) struct Condition {
    pub(super) states: Vec<f32>,
    /// 1 for a token, 0 for padding.
    pub(super) mask: Vec<f32>,
    pub(super) whole: Vec<f32>,
}

impl Condition {
    /// True for an empty prompt.
    pub(super) fn is_empty(&self) -> bool {
        self.mask.iter().all(|it| *it == 0.0)
    }
}

impl Reader {
    pub(super) fn load(
        runtime: &Runtime,
        folder: &Path,
        generator: &[u8],
    ) -> Result<Reader, PictorError> {
        let tensors = Tensors::parse(generator).map_err(PictorError::Weights)?;
        let nothing = tensors.matrix("null", &[TEXT_WIDTH]).map_err(PictorError::Weights)?;
        Ok(Reader {
            tokens: Tokens::load(folder, TEXT_TOKENS)?,
            bert: Bert::load(runtime, folder)?,
            nothing: scaled(nothing.values),
        })
    }

    pub(super) fn read(&mut self, prompt: &str) -> Result<Condition, PictorError> {
        let mut condition = Condition {
            states: vec![0.0; TEXT_TOKENS * TEXT_WIDTH],
            mask: vec![0.0; TEXT_TOKENS],
            whole: self.nothing.clone(),
        };
        if prompt.trim().is_empty() {
            return Ok(condition);
        }
        let ids = self.tokens.encode(0, prompt, Overflow::Truncate)?;
        let states = self.bert.states(&[&ids], ids.len())?;
        condition.whole = scaled(mean_normalised(&states, TEXT_WIDTH, ids.len()));
        condition.states[..states.len()].copy_from_slice(&states);
        condition.mask[..ids.len()].fill(1.0);
        Ok(condition)
    }
}

/// Scales a vector of length 1 to the unit variance that the generator expects.
fn scaled(mut vector: Vec<f32>) -> Vec<f32> {
    let scale = (TEXT_WIDTH as f32).sqrt();
    vector.iter_mut().for_each(|it| *it *= scale);
    vector
}
