//! A reader that works in this process: a test binary has no `reader` command to start. How the
//! real one confines and ends its children is tested with the program itself, in `cli`.

use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use reader::jobs::{Done, Job};
use reader::{CallerId, Fault, Reader};
use tokio::task::spawn_blocking;

#[derive(Default)]
pub(crate) struct HereReader {
    /// How many jobs it was asked to do.
    pub(crate) jobs: AtomicUsize,
}

impl Reader for HereReader {
    fn perform(
        &self,
        _: CallerId,
        job: Job,
        bytes: Bytes,
    ) -> BoxFuture<'_, Result<(Done, Vec<u8>), Fault>> {
        self.jobs.fetch_add(1, Ordering::Relaxed);
        let work = spawn_blocking(move || job.perform(&bytes));
        work.map(|done| done.map_err(|error| Fault::Unavailable { cause: error.to_string() }))
            .boxed()
    }
}
