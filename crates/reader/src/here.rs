//! A reader for tests: a test binary has no `reader` command to start. How the real one confines and
//! ends its children is tested with the program itself.

use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::task::spawn_blocking;

use crate::tasks::{AnyTask, Done};
use crate::{CallerId, Reader, ReaderError};

/// Does its tasks on threads of this process, without any bound.
#[derive(Debug, Default)]
pub struct HereReader {
    /// How many tasks it was asked to do.
    pub tasks: AtomicUsize,
}

impl Reader for HereReader {
    fn perform(
        &self,
        _: CallerId,
        task: AnyTask,
        bytes: Bytes,
    ) -> BoxFuture<'_, Result<(Done, Vec<u8>), ReaderError>> {
        self.tasks.fetch_add(1, Ordering::Relaxed);
        let work = spawn_blocking(move || task.perform(&bytes));
        work.map(|done| done.map_err(|error| ReaderError::Unavailable { cause: error.to_string() }))
            .boxed()
    }
}
