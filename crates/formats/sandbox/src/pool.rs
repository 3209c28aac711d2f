//! The parent's side: a few children, started on demand and shared fairly.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Mutex, Once, PoisonError};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::fair_queue::FairQueue;
use crate::tasks::{AnyTask, TaskOutcome};
use crate::worker::ChildWorker;
use crate::{CallerId, InputReader, ReaderError};

/// The command that starts a child.
#[derive(Debug, Clone)]
pub struct ChildCommand {
    pub path: PathBuf,
    pub arguments: Vec<OsString>,
}

/// A pool of children. Nothing runs until the first task; one idle child is kept after the last.
#[derive(Debug)]
pub struct ProcessReader {
    program: ChildCommand,
    turns: FairQueue,
    /// Locked for a push or a pop, never across an await.
    idle: Mutex<Vec<IdleWorker>>,
    /// Missing kernel features are logged once.
    told: Once,
}

/// An idle child, reserved for the caller whose input it has parsed.
#[derive(Debug)]
struct IdleWorker {
    caller: CallerId,
    worker: ChildWorker,
}

/// Maximum idle children.
const IDLE_MAX: usize = 1;

impl ProcessReader {
    /// Runs `at_once` tasks concurrently, of one caller at most one less; each uses a core.
    pub fn new(program: ChildCommand, at_once: NonZeroUsize) -> ProcessReader {
        let (turns, idle) = (FairQueue::new(at_once), Mutex::default());
        ProcessReader { program, turns, idle, told: Once::new() }
    }

    async fn perform_in_child(
        &self,
        caller: CallerId,
        task: AnyTask,
        bytes: Bytes,
    ) -> Result<(TaskOutcome, Vec<u8>), ReaderError> {
        let _turn = self.turns.take(caller).await?;
        let worker = self.take_worker(caller).await?;
        let performed = worker.perform(&task, bytes).await.inspect_err(|error| {
            tracing::warn!("a task was not done: {error}");
        })?;
        if let Some(worker) = performed.worker {
            self.return_worker(IdleWorker { caller, worker });
        }
        Ok((performed.done, performed.bytes))
    }

    /// A child that has parsed no input of another caller: input that compromised it, or that it
    /// still holds, cannot affect or reach other callers.
    async fn take_worker(&self, caller: CallerId) -> Result<ChildWorker, ReaderError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(idle) = idle.filter(|idle| idle.caller == caller) {
            return Ok(idle.worker);
        }
        let started = ChildWorker::start(&self.program).await;
        let (worker, confinement) = started.map_err(|error| ReaderError::Unavailable {
            cause: format!("the reader {} cannot be started: {error}", self.program.path.display()),
        })?;
        if !confinement.missing.is_empty() {
            self.told.call_once(|| {
                let missing = confinement.missing.join("; ");
                tracing::warn!("the sandbox of the reader is incomplete: {missing}");
            });
        }
        Ok(worker)
    }

    fn return_worker(&self, worker: IdleWorker) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_MAX {
            idle.push(worker);
        }
    }
}

impl InputReader for ProcessReader {
    fn perform(
        &self,
        caller: CallerId,
        task: AnyTask,
        bytes: Bytes,
    ) -> BoxFuture<'_, Result<(TaskOutcome, Vec<u8>), ReaderError>> {
        self.perform_in_child(caller, task, bytes).boxed()
    }
}
