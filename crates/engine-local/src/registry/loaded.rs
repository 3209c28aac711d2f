//! A model in memory, of whichever kind.

use std::sync::Arc;

use engine_text::{LoadError, Settings, TextModel, Weights};

use super::{Found, Kind, Limits};
use crate::refusal::Refusal;

/// Cheap to clone; the last clone gives the memory back.
#[derive(Debug, Clone)]
pub(crate) enum Loaded {
    Text(Arc<TextModel>),
}

impl Loaded {
    pub(crate) fn memory_bytes(&self) -> u64 {
        match self {
            Loaded::Text(model) => model.memory_bytes(),
        }
    }

    /// Whether nobody but the registry holds it.
    pub(crate) fn is_unused(&self) -> bool {
        match self {
            Loaded::Text(model) => Arc::strong_count(model) == 1,
        }
    }
}

/// Reads a model from disk; `make_room` is asked before its memory is taken.
pub(crate) fn load(
    found: &Found,
    limits: &Limits,
    make_room: impl FnOnce(u64) -> Result<(), Refusal>,
) -> Result<Loaded, Refusal> {
    match found.kind {
        Kind::Text => {
            let weights = Weights::open(&found.path).map_err(|error| refusal(&error))?;
            let settings = Settings {
                threads: limits.threads,
                parallel: limits.parallel,
                context_tokens_max: None,
                cache_bytes_max: limits.cache_bytes_max,
            };
            make_room(weights.memory_bytes(&settings).map_err(|error| refusal(&error))?)?;
            let model = TextModel::start(weights, &settings).map_err(|error| refusal(&error))?;
            Ok(Loaded::Text(Arc::new(model)))
        }
        Kind::Embedding | Kind::Transcription | Kind::Speech => {
            let kind = found.kind.word();
            Err(Refusal::failed(format!("This build cannot run models for {kind}.")))
        }
    }
}

/// What keeps a file from loading is the operator's to mend, and the log has the whole story.
fn refusal(error: &LoadError) -> Refusal {
    tracing::error!("cannot load a model: {error}");
    Refusal::failed(error.to_string())
}
