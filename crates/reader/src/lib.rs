//! Confined, disposable processes in which everything is opened that callers send in a hostile
//! format: documents, pictures, pages.
//!
//! The parent has a [`ProcessReader`], a small pool of children of the same program, and asks it
//! through the trait [`Reader`]: `reader::ask(&*app.reader, caller, task, bytes).await`. A child
//! ([`child::run`]) gives up everything but its two pipes before it reads the first byte; the
//! kernel bounds its memory and its time. It does one task at a time and is killed if the
//! request that waits for it is dropped. What can be asked is in [`tasks`], one file for each kind.

pub mod child;
mod frame;
mod here;
mod pool;
pub mod tasks;
pub mod turns;
pub mod unprivileged;
mod worker;

use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;

pub use here::HereReader;
pub use pool::{ProcessReader, Program};

use crate::tasks::{AnyTask, Done, Known};

/// Whom work is done for. Callers take turns, however much one of them asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallerId(pub u128);

/// What a task may take. The kernel ends a child that takes more.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Beyond what the program has when it starts.
    pub memory_bytes: u64,
    pub cpu_s: u64,
    /// From the moment at which a child has the task.
    pub time: Duration,
    /// Of the answer.
    pub answer_bytes: usize,
}

/// Why a task was not done. What is wrong with the bytes themselves is part of an outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReaderError {
    /// The kernel or the clock ended it: the bytes ask for more than a task may take.
    #[error("it takes more memory or time than a task may take ({how})")]
    TooMuch { how: String },
    /// Too much is waiting already.
    #[error("too much is waiting to be read")]
    Busy,
    /// No child could be started or understood.
    #[error("{cause}")]
    Unavailable { cause: String },
}

/// Does tasks, somewhere else than here.
pub trait Reader: Send + Sync {
    /// Dropping the future ends the work.
    fn perform(
        &self,
        caller: CallerId,
        task: AnyTask,
        bytes: Bytes,
    ) -> BoxFuture<'_, Result<(Done, Vec<u8>), ReaderError>>;
}

/// Has a task done, and gives what came of it: its outcome, and its bytes.
pub async fn ask<T: Known>(
    reader: &dyn Reader,
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
