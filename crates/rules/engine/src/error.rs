//! Errors of engines: one variant per way in which callers of an engine react.

use std::fmt;
use std::time::Duration;

/// A `message` is the engine's text for the caller. It may be shown to that caller only and is
/// never logged, because an engine may quote the prompt in it. A `cause` is for the operator's log
/// only, because it may reveal how the service is built; it never contains text that an engine
/// wrote.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// The request is invalid; another engine would reject it too.
    #[error("the engine rejected the request")]
    Rejected { message: String },

    /// The request lacks a field (public name) that this model's engine requires.
    #[error("the request lacks `{field}`, which the engine needs")]
    FieldMissing { field: &'static str },

    /// Prompt and completion do not fit into the model's context window.
    #[error("the request does not fit the model's context")]
    ContextOverflow { message: String },

    /// The engine's own policy forbids the request.
    #[error("the engine refused the content")]
    ContentPolicy { message: String },

    /// The engine or its queue is full.
    #[error("the engine is overloaded{}", in_seconds(*.retry_after))]
    Overloaded { retry_after: Option<Duration> },

    /// The provider's whole service is overloaded, by its own account: status 529, or an error of
    /// the type `overloaded_error`. Treated as [`EngineError::Overloaded`], except that callers of
    /// the same protocol are given the same status.
    #[error("the engine's service is overloaded{}", in_seconds(*.retry_after))]
    ServiceOverloaded { retry_after: Option<Duration> },

    /// The engine is starting or still downloading the model's files.
    #[error("the engine is not ready yet: {message}")]
    NotReady { message: String, retry_after: Duration },

    /// No connection could be established, so the engine never received the request.
    #[error("the engine cannot be reached: {cause}")]
    Unreachable { cause: String },

    /// The engine exceeded a timeout.
    #[error("the engine timed out {phase}")]
    Timeout { phase: TimeoutPhase },

    /// The engine violated its protocol, closed the connection early, or had an internal error.
    #[error("the engine gave a bad answer: {cause}")]
    BadAnswer { cause: String },

    /// The engine rejects our account: a wrong key, no credit, or an unknown model.
    #[error("the engine is misconfigured: {cause}")]
    Misconfigured { cause: String },
}

impl EngineError {
    /// True if another engine with the same model may succeed. Valid only while nothing has been
    /// produced.
    pub fn may_fail_over(&self) -> bool {
        match self {
            EngineError::Rejected { .. }
            | EngineError::FieldMissing { .. }
            | EngineError::ContextOverflow { .. }
            | EngineError::ContentPolicy { .. } => false,
            EngineError::Overloaded { .. }
            | EngineError::ServiceOverloaded { .. }
            | EngineError::NotReady { .. }
            | EngineError::Unreachable { .. }
            | EngineError::Timeout { .. }
            | EngineError::BadAnswer { .. }
            | EngineError::Misconfigured { .. } => true,
        }
    }

    /// True if the engine certainly never started, so a retry cannot be billed twice.
    pub fn may_retry_same_engine(&self) -> bool {
        matches!(self, EngineError::Unreachable { .. })
    }
}

/// The part of a response during which a timeout expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeoutPhase {
    /// A complete, non-streamed answer.
    Answer,
    /// The first event of a stream.
    FirstEvent,
    /// The next event of a stream.
    NextEvent,
}

impl fmt::Display for TimeoutPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TimeoutPhase::Answer => "before its answer",
            TimeoutPhase::FirstEvent => "before its first event",
            TimeoutPhase::NextEvent => "in the middle of its answer",
        })
    }
}

fn in_seconds(retry_after: Option<Duration>) -> String {
    match retry_after {
        Some(wait) => format!("; it asks to wait {} s", wait.as_secs_f64().ceil()),
        None => String::new(),
    }
}
