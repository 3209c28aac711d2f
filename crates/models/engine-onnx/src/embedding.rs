//! Sentence embeddings: a BERT encoder with mean pooling and normalisation.

mod batch;
pub(crate) mod bert;
pub(crate) mod pooling;
pub(crate) mod tokens;
mod worker;

use std::path::Path;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use self::bert::BertEncoder;
use self::tokens::EmbeddingTokenizer;
use self::worker::EmbeddingTask;
use crate::runtime::{OnnxRuntime, RuntimeError};

/// Maximum queued requests; further ones are rejected.
const JOBS_MAX: usize = 256;

/// A loaded model. Requests of all threads are computed together, in batches of similar length.
pub struct TextEmbedder {
    tokens: EmbeddingTokenizer,
    dimensions: usize,
    tasks: SyncSender<EmbeddingTask>,
    thread: JoinHandle<()>,
}

/// The treatment of inputs that exceed the model's limit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OverflowPolicy {
    Refuse,
    Truncate,
}

/// One vector per input, in input order, and the token count.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddingVectors {
    pub vectors: Vec<Vec<f32>>,
    pub tokens: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum EmbeddingError {
    #[error("input {index} has {tokens} tokens, and {tokens_max} is the most")]
    TooLong { index: usize, tokens: usize, tokens_max: usize },
    #[error("input {index} has the token {token}, which the model does not know")]
    UnknownToken { index: usize, token: u32 },
    #[error("too many requests at once, try again")]
    Busy,
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    #[error("the embedding model failed: {0}")]
    Failed(String),
}

impl TextEmbedder {
    /// Loads `model.fp16.safetensors` or `model.safetensors`, `config.json` and `tokenizer.json`.
    pub fn load(runtime: &OnnxRuntime, folder: &Path) -> Result<TextEmbedder, EmbeddingError> {
        let bert = BertEncoder::load(runtime, folder)?;
        let tokens = EmbeddingTokenizer::load(folder, bert.tokens_max())?;
        let dimensions = bert.dimensions();
        let (tasks, queue) = sync_channel(JOBS_MAX);
        let thread = worker::start_worker(bert, queue)
            .map_err(|error| EmbeddingError::Failed(error.to_string()))?;
        Ok(TextEmbedder { tokens, dimensions, tasks, thread })
    }

    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// True if the model's thread has ended, which it does only by a panic. The model accepts no
    /// requests any more.
    pub fn is_stopped(&self) -> bool {
        self.thread.is_finished()
    }

    /// The longest input, in tokens.
    pub fn tokens_max(&self) -> usize {
        self.tokens.tokens_max()
    }

    /// Computes one vector per input; blocks until done.
    pub fn embed(
        &self,
        inputs: &[&str],
        overflow: OverflowPolicy,
    ) -> Result<EmbeddingVectors, EmbeddingError> {
        let mut encoded = Vec::with_capacity(inputs.len());
        for (index, input) in inputs.iter().enumerate() {
            encoded.push(self.tokens.encode(index, input, overflow)?);
        }
        self.run(encoded)
    }

    /// As [`TextEmbedder::embed`], for token ids without the marker tokens at both ends.
    pub fn embed_tokens(
        &self,
        inputs: &[&[u32]],
        overflow: OverflowPolicy,
    ) -> Result<EmbeddingVectors, EmbeddingError> {
        let mut encoded = Vec::with_capacity(inputs.len());
        for (index, input) in inputs.iter().enumerate() {
            encoded.push(self.tokens.add_markers(index, input, overflow)?);
        }
        self.run(encoded)
    }

    fn run(&self, inputs: Vec<Vec<i32>>) -> Result<EmbeddingVectors, EmbeddingError> {
        let tokens = inputs.iter().map(Vec::len).sum();
        if inputs.is_empty() {
            return Ok(EmbeddingVectors { vectors: Vec::new(), tokens });
        }
        let (reply, answer) = sync_channel(1);
        self.tasks.try_send(EmbeddingTask { inputs, reply }).map_err(|error| match error {
            TrySendError::Full(_) => EmbeddingError::Busy,
            TrySendError::Disconnected(_) => stopped_error(),
        })?;
        let vectors =
            answer.recv().map_err(|_| stopped_error())?.map_err(EmbeddingError::Failed)?;
        Ok(EmbeddingVectors { vectors, tokens })
    }
}

fn stopped_error() -> EmbeddingError {
    EmbeddingError::Failed("its thread has stopped".to_owned())
}

#[cfg(test)]
mod tests;
