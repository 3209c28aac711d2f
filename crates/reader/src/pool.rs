//! The parent's side: a few children, started when they are needed, shared fairly.

mod turns;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Mutex, Once, PoisonError};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::tasks::{AnyTask, Done};
use crate::worker::Worker;
use crate::{CallerId, Reader, ReaderError};
use turns::Turns;

/// How a child is started.
#[derive(Debug, Clone)]
pub struct Program {
    pub path: PathBuf,
    pub arguments: Vec<OsString>,
}

/// A pool of children. Nothing runs until the first task, and one idle child stays after the last.
#[derive(Debug)]
pub struct ProcessReader {
    program: Program,
    turns: Turns,
    /// Held for a push or a pop, and never across an await.
    idle: Mutex<Vec<Worker>>,
    /// What the kernel lacks is logged once.
    told: Once,
}

/// Children that wait for work.
const IDLE_MAX: usize = 1;

impl ProcessReader {
    /// `at_once` tasks are done at a time; each keeps a core busy.
    pub fn new(program: Program, at_once: NonZeroUsize) -> ProcessReader {
        let (turns, idle) = (Turns::new(at_once), Mutex::default());
        ProcessReader { program, turns, idle, told: Once::new() }
    }

    async fn ask(
        &self,
        caller: CallerId,
        task: AnyTask,
        bytes: Bytes,
    ) -> Result<(Done, Vec<u8>), ReaderError> {
        let _turn = self.turns.take(caller).await?;
        let worker = self.worker().await?;
        let performed = worker.perform(&task, bytes).await.inspect_err(|error| {
            tracing::warn!("a task was not done: {error}");
        })?;
        if let Some(worker) = performed.worker {
            self.keep(worker);
        }
        Ok((performed.done, performed.bytes))
    }

    async fn worker(&self) -> Result<Worker, ReaderError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(worker) = idle {
            return Ok(worker);
        }
        let started = Worker::start(&self.program).await;
        let (worker, confinement) = started.map_err(|error| ReaderError::Unavailable {
            cause: format!("the reader {} cannot be started: {error}", self.program.path.display()),
        })?;
        if !confinement.missing.is_empty() {
            self.told.call_once(|| {
                let missing = confinement.missing.join("; ");
                tracing::warn!("the reader is confined less than it could be: {missing}");
            });
        }
        Ok(worker)
    }

    fn keep(&self, worker: Worker) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_MAX {
            idle.push(worker);
        }
    }
}

impl Reader for ProcessReader {
    fn perform(
        &self,
        caller: CallerId,
        task: AnyTask,
        bytes: Bytes,
    ) -> BoxFuture<'_, Result<(Done, Vec<u8>), ReaderError>> {
        self.ask(caller, task, bytes).boxed()
    }
}
