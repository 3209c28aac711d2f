//! What is asked about queued work.

use credits::OwnerId;
use moment::Timestamp;

use crate::Answer;
use crate::job::{JobCount, JobFilter, JobId, JobPlace, QueuedJob};

pub trait JobStore: Send + Sync {
    fn job(&self, id: JobId) -> Answer<'_, Option<QueuedJob>>;

    /// The oldest job of each owner that can be taken up now, the oldest of these first: those after
    /// a place, at most `limit`.
    fn due_jobs(
        &self,
        now: Timestamp,
        after: Option<JobPlace>,
        limit: usize,
    ) -> Answer<'_, Vec<QueuedJob>>;

    fn jobs(&self, filter: JobFilter) -> Answer<'_, Vec<QueuedJob>>;

    /// How many jobs of an owner have not ended.
    fn open_jobs(&self, owner: OwnerId) -> Answer<'_, u64>;

    /// By the states in which jobs are open.
    fn job_counts(&self) -> Answer<'_, Vec<JobCount>>;

    /// How long the last jobs of a model took, in milliseconds.
    fn job_timings<'a>(&'a self, model: &'a str) -> Answer<'a, Vec<u64>>;
}
