//! Queries about queued work.

use credits::OwnerId;
use moment::Timestamp;

use crate::StoreFuture;
use crate::job::{JobCount, JobCursor, JobFilter, JobId, QueuedJob};

pub trait JobStore: Send + Sync {
    fn job(&self, id: JobId) -> StoreFuture<'_, Option<QueuedJob>>;

    /// The oldest job of each owner that can be taken up now, the oldest of these first: those
    /// after a place, at most `limit`.
    fn due_jobs(
        &self,
        now: Timestamp,
        after: Option<JobCursor>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<QueuedJob>>;

    fn jobs(&self, filter: JobFilter) -> StoreFuture<'_, Vec<QueuedJob>>;

    /// How many jobs of an owner have not ended.
    fn open_jobs(&self, owner: OwnerId) -> StoreFuture<'_, u64>;

    /// By the states in which jobs are open.
    fn job_counts(&self) -> StoreFuture<'_, Vec<JobCount>>;

    /// How long the last jobs of a model took, in milliseconds.
    fn job_timings<'a>(&'a self, model: &'a str) -> StoreFuture<'a, Vec<u64>>;
}
