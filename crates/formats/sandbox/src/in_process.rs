//! A reader for tests: a test binary has no `reader` command to start. The confinement of real
//! children is tested with the program itself.

use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::task::spawn_blocking;

use crate::tasks::{AnyTask, TaskOutcome};
use crate::{CallerId, InputReader, ReaderError};

/// Runs tasks on threads of this process, without limits.
#[derive(Debug, Default)]
pub struct InProcessReader {
    /// The number of tasks so far.
    pub tasks: AtomicUsize,
}

impl InputReader for InProcessReader {
    fn perform(
        &self,
        _: CallerId,
        task: AnyTask,
        bytes: Bytes,
    ) -> BoxFuture<'_, Result<(TaskOutcome, Vec<u8>), ReaderError>> {
        self.tasks.fetch_add(1, Ordering::Relaxed);
        let work = spawn_blocking(move || task.perform(&bytes));
        work.map(|done| done.map_err(|error| ReaderError::Unavailable { cause: error.to_string() }))
            .boxed()
    }
}
