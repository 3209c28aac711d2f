//! Confined, disposable processes that parse all untrusted input of callers: documents, images,
//! pages.
//!
//! The parent has a [`ProcessReader`], a small pool of child processes of the same program, and
//! uses it through the trait [`InputReader`]: `reader::ask(&*app.reader, caller, task, bytes).await`. A
//! child ([`child::run_child`]) gives up everything but its two pipes before it reads the first byte; the
//! kernel limits its memory and CPU time. It performs one task at a time and is killed if the
//! request that waits for it is dropped. The tasks are in [`tasks`], one file per kind.

pub mod child;
pub mod fair_queue;
mod in_process;
mod message;
mod pool;
pub mod tasks;
pub mod unprivileged;
mod worker;

use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;

pub use in_process::InProcessReader;
pub use pool::{ChildCommand, ProcessReader};

use crate::tasks::{AnyTask, KnownTask, TaskOutcome};

/// Identifies the caller for fair scheduling: callers take turns regardless of how much each
/// requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallerId(pub u128);

/// Resource limits of a task. The kernel kills a child that exceeds them.
#[derive(Debug, Clone, Copy)]
pub struct TaskBounds {
    /// In addition to the program's own memory at start.
    pub memory_bytes: u64,
    pub cpu_s: u64,
    /// From the moment a child receives the task.
    pub time: Duration,
    /// Maximum size of the response.
    pub answer_bytes: usize,
}

/// The reason why a task was not performed. Errors in the input itself are part of an outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReaderError {
    /// A limit was exceeded: the input needs more than a task may take.
    #[error("it takes more memory or time than a task may take ({how})")]
    TooMuch { how: String },
    /// The queue is full.
    #[error("too much is waiting to be read")]
    Busy,
    /// No child could be started, or its response was invalid.
    #[error("{cause}")]
    Unavailable { cause: String },
}

/// Performs tasks outside of this process.
pub trait InputReader: Send + Sync {
    /// Dropping the future cancels the work.
    fn perform(
        &self,
        caller: CallerId,
        task: AnyTask,
        bytes: Bytes,
    ) -> BoxFuture<'_, Result<(TaskOutcome, Vec<u8>), ReaderError>>;
}

/// Performs a task and returns its outcome and bytes.
pub async fn run_task<T: KnownTask>(
    reader: &dyn InputReader,
    caller: CallerId,
    task: T,
    bytes: Bytes,
) -> Result<(T::Outcome, Vec<u8>), ReaderError> {
    let (done, bytes) = reader.perform(caller, task.into_any(), bytes).await?;
    let outcome = T::outcome_of(done).ok_or_else(|| ReaderError::Unavailable {
        cause: "the reader answered another question than was asked".to_owned(),
    })?;
    Ok((outcome, bytes))
}
