//! How an engine fails: one variant for each thing that somebody does about it.

use std::fmt;
use std::time::Duration;

/// `message`s are the engine's words to the caller and may be shown to him, and to nobody else: an
/// engine may repeat the prompt in them, so that they are not part of what is logged. `cause`s are
/// for the operator's log only, since they may tell how the service is built; they never hold what
/// an engine wrote.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// The request itself is at fault; asking elsewhere would not help.
    #[error("the engine rejected the request")]
    Rejected { message: String },

    /// The request lacks a field, by its public name, that this model's engine needs.
    #[error("the request lacks `{field}`, which the engine needs")]
    FieldMissing { field: &'static str },

    /// The prompt and the answer do not fit into the model's context.
    #[error("the request does not fit the model's context")]
    ContextOverflow { message: String },

    /// The engine's own policy forbids the request.
    #[error("the engine refused the content")]
    ContentPolicy { message: String },

    /// The engine, or its queue, is full for now.
    #[error("the engine is overloaded{}", in_seconds(*.retry_after))]
    Overloaded { retry_after: Option<Duration> },

    /// It will do the work soon: it is starting, or still fetching what the model consists of.
    #[error("the engine is not ready yet: {message}")]
    NotReady { message: String, retry_after: Duration },

    /// No connection came about, so the engine never saw the request.
    #[error("the engine cannot be reached: {cause}")]
    Unreachable { cause: String },

    /// The engine took too long.
    #[error("the engine timed out {phase}")]
    Timeout { phase: Phase },

    /// The engine broke its protocol, broke off, or failed inside.
    #[error("the engine gave a bad answer: {cause}")]
    BadAnswer { cause: String },

    /// The engine refuses *us*: a wrong key, no credit there, a model it does not have.
    #[error("the engine is misconfigured: {cause}")]
    Misconfigured { cause: String },
}

impl EngineError {
    /// Another engine with the same model may do better. Only for requests that have produced
    /// nothing yet.
    pub fn may_fail_over(&self) -> bool {
        match self {
            EngineError::Rejected { .. }
            | EngineError::FieldMissing { .. }
            | EngineError::ContextOverflow { .. }
            | EngineError::ContentPolicy { .. } => false,
            EngineError::Overloaded { .. }
            | EngineError::NotReady { .. }
            | EngineError::Unreachable { .. }
            | EngineError::Timeout { .. }
            | EngineError::BadAnswer { .. }
            | EngineError::Misconfigured { .. } => true,
        }
    }

    /// The engine certainly never began, so asking it again cannot pay for the work twice.
    pub fn may_ask_again(&self) -> bool {
        matches!(self, EngineError::Unreachable { .. })
    }
}

/// What an engine was waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// A whole answer.
    Answer,
    /// The first event of a stream.
    FirstEvent,
    /// The next event of a stream.
    NextEvent,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::Answer => "before its answer",
            Phase::FirstEvent => "before its first event",
            Phase::NextEvent => "in the middle of its answer",
        })
    }
}

fn in_seconds(retry_after: Option<Duration>) -> String {
    match retry_after {
        Some(wait) => format!("; it asks to wait {} s", wait.as_secs_f64().ceil()),
        None => String::new(),
    }
}
