//! Queries about queued work.

use credits::OwnerId;
use moment::Timestamp;

use crate::job::{JobCount, JobCursor, JobFilter, JobId, QueuedJob};
use crate::sqlite::{Sqlite, jobs};
use crate::{JobStore, StoreFuture};

impl JobStore for Sqlite {
    fn job(&self, id: JobId) -> StoreFuture<'_, Option<QueuedJob>> {
        self.ask(move |connection| jobs::job(connection, id))
    }

    fn due_jobs(
        &self,
        now: Timestamp,
        after: Option<JobCursor>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<QueuedJob>> {
        self.ask(move |connection| jobs::due(connection, now, after, limit))
    }

    fn jobs(&self, filter: JobFilter) -> StoreFuture<'_, Vec<QueuedJob>> {
        self.ask(move |connection| jobs::list(connection, &filter))
    }

    fn open_jobs(&self, owner: OwnerId) -> StoreFuture<'_, u64> {
        self.ask(move |connection| jobs::open_jobs(connection, owner))
    }

    fn job_counts(&self) -> StoreFuture<'_, Vec<JobCount>> {
        self.ask(jobs::counts)
    }

    fn job_timings<'a>(&'a self, model: &'a str) -> StoreFuture<'a, Vec<u64>> {
        let model = model.to_owned();
        self.ask(move |connection| jobs::timings(connection, &model))
    }
}
