//! A BERT encoder, built as a graph from the weights in a safetensors file.
//!
//! The models are published as weights, not as graphs. This graph uses the runtime's fused
//! operators, which exports of training frameworks do not.

mod graph;

use std::fs;
use std::path::Path;

use ort::session::Session;
use ort::value::TensorRef;
use serde::Deserialize;

use super::{EmbeddingError, pooling};
use crate::runtime::{OnnxRuntime, RuntimeError};
use crate::tensors::NamedTensors;

/// The half-size file is preferred if both exist; both compute in 32 bits.
const WEIGHT_FILES: [&str; 2] = ["model.fp16.safetensors", "model.safetensors"];

pub(crate) struct BertEncoder {
    session: Session,
    config: BertConfig,
}

/// The fields of `config.json` that determine the graph.
#[derive(Clone, Copy, Debug, Deserialize)]
struct BertConfig {
    hidden_size: usize,
    num_attention_heads: usize,
    num_hidden_layers: usize,
    max_position_embeddings: usize,
    layer_norm_eps: f32,
}

impl BertEncoder {
    pub(crate) fn load(
        runtime: &OnnxRuntime,
        folder: &Path,
    ) -> Result<BertEncoder, EmbeddingError> {
        let file = folder.join("config.json");
        let text = fs::read(&file).map_err(|error| unreadable_error(&file, &error))?;
        let config: BertConfig =
            serde_json::from_slice(&text).map_err(|error| unreadable_error(&file, &error))?;
        let candidates = WEIGHT_FILES.map(|it| folder.join(it));
        let file = candidates.iter().find(|it| it.exists()).unwrap_or(&candidates[0]);
        let bytes = fs::read(file).map_err(|error| unreadable_error(file, &error))?;
        let weights =
            NamedTensors::parse(&bytes).map_err(|cause| unreadable_error(file, &cause))?;
        let model = graph::build_graph(&config, &weights)
            .map_err(|cause| unreadable_error(file, &cause))?;
        let session = runtime.session_builder()?.commit_from_memory(&model);
        let session = session.map_err(RuntimeError::from)?;
        Ok(BertEncoder { session, config })
    }

    pub(crate) fn tokens_max(&self) -> usize {
        self.config.max_position_embeddings
    }

    pub(crate) fn dimensions(&self) -> usize {
        self.config.hidden_size
    }

    /// One vector per input; inputs are padded to the longest.
    pub(crate) fn embed(&mut self, inputs: &[&[i32]]) -> Result<Vec<Vec<f32>>, RuntimeError> {
        let dimensions = self.config.hidden_size;
        let longest = inputs.iter().map(|it| it.len()).max().unwrap_or(0);
        let states = self.token_states(inputs, longest)?;
        let rows = states.chunks_exact(longest * dimensions);
        let vectors = rows.zip(inputs);
        Ok(vectors
            .map(|(row, input)| pooling::mean_normalised(row, dimensions, input.len()))
            .collect())
    }

    /// One vector per token, with all inputs padded to `longest`.
    pub(crate) fn token_states(
        &mut self,
        inputs: &[&[i32]],
        longest: usize,
    ) -> Result<Vec<f32>, RuntimeError> {
        let shape = [inputs.len(), longest];
        let mut ids = vec![0_i32; inputs.len() * longest];
        let mut mask = vec![0_i32; inputs.len() * longest];
        for (row, input) in inputs.iter().enumerate() {
            let row = row * longest;
            ids[row..row + input.len()].copy_from_slice(input);
            mask[row..row + input.len()].fill(1);
        }
        let segments = vec![0_i32; ids.len()];
        let outputs = self.session.run(ort::inputs! {
            graph::IDS => TensorRef::from_array_view((shape, ids.as_slice()))?,
            graph::SEGMENTS => TensorRef::from_array_view((shape, segments.as_slice()))?,
            graph::MASK => TensorRef::from_array_view((shape, mask.as_slice()))?,
        })?;
        let (_, states) = outputs[graph::OUTPUT].try_extract_tensor::<f32>()?;
        Ok(states.to_vec())
    }
}

fn unreadable_error(file: &Path, cause: &impl ToString) -> EmbeddingError {
    let cause = cause.to_string();
    EmbeddingError::Runtime(RuntimeError::Model { path: file.to_owned(), cause })
}
