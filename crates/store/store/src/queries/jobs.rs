//! Queries about queued work.

use ledger_core::OwnerId;
use moment::Timestamp;

use crate::StoreFuture;
use crate::job::{JobCount, JobCursor, JobFilter, JobId, QueuedJob};

pub trait JobStore: Send + Sync {
    fn job(&self, id: JobId) -> StoreFuture<'_, Option<QueuedJob>>;

    /// The oldest due job of each owner, the oldest of these first: those after a cursor, at most
    /// `limit`.
    fn due_jobs(
        &self,
        now: Timestamp,
        after: Option<JobCursor>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<QueuedJob>>;

    fn list_jobs(&self, filter: JobFilter) -> StoreFuture<'_, Vec<QueuedJob>>;

    /// The number of jobs of an owner that have not ended.
    fn open_jobs(&self, owner: OwnerId) -> StoreFuture<'_, u64>;

    /// The number of open jobs by state.
    fn job_counts(&self) -> StoreFuture<'_, Vec<JobCount>>;

    /// The durations of a model's last jobs, in milliseconds.
    fn job_timings<'a>(&'a self, model: &'a str) -> StoreFuture<'a, Vec<u64>>;
}
