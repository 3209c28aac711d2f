//! Queries about queued work.

use ledger_core::OwnerId;
use moment::Timestamp;

use crate::job::{JobCount, JobCursor, JobFilter, JobId, QueuedJob};
use crate::sqlite::{SqliteStore, jobs};
use crate::{JobStore, StoreFuture};

impl JobStore for SqliteStore {
    fn job(&self, id: JobId) -> StoreFuture<'_, Option<QueuedJob>> {
        self.query(move |connection| jobs::read_job(connection, id))
    }

    fn due_jobs(
        &self,
        now: Timestamp,
        after: Option<JobCursor>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<QueuedJob>> {
        self.query(move |connection| jobs::find_due_jobs(connection, now, after, limit))
    }

    fn list_jobs(&self, filter: JobFilter) -> StoreFuture<'_, Vec<QueuedJob>> {
        self.query(move |connection| jobs::list_jobs(connection, &filter))
    }

    fn open_jobs(&self, owner: OwnerId) -> StoreFuture<'_, u64> {
        self.query(move |connection| jobs::open_jobs(connection, owner))
    }

    fn job_counts(&self) -> StoreFuture<'_, Vec<JobCount>> {
        self.query(jobs::count_jobs)
    }

    fn job_timings<'a>(&'a self, model: &'a str) -> StoreFuture<'a, Vec<u64>> {
        let model = model.to_owned();
        self.query(move |connection| jobs::read_timings(connection, &model))
    }
}
