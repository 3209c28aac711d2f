//! Claims jobs up to the limit of running jobs, and deletes expired results.

use std::sync::Arc;
use std::time::Duration;

use background::catch_panic;
use ledger::OwnerHome;
use store::error::StoreError;
use store::job::{JobStep, JobWrite, QueuedJob};
use store::write::{StoreWrite, WriteGroup};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::queue::JobQueue;
use crate::run::JobRun;

/// Interval for finding jobs whose delay is over or whose worker died.
const LOOK_EVERY: Duration = Duration::from_secs(1);
const SWEEP_EVERY: Duration = Duration::from_secs(60);
const COUNT_EVERY: Duration = Duration::from_secs(10);
/// Interval for deleting objects without a row. A row is written within minutes of its object, or
/// never.
const SCAN_EVERY: Duration = Duration::from_secs(60 * 60);

impl JobQueue {
    /// Claims and runs jobs until `stop`. Running jobs are then left for the next start to
    /// continue.
    pub async fn run_worker(self: Arc<JobQueue>, tasks: TaskTracker, stop: CancellationToken) {
        let mut look = interval(LOOK_EVERY);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = look.tick() => {}
                () = self.added.notified() => {}
            }
            if let Err(error) = self.claim_due_jobs(&tasks, &stop).await {
                tracing::warn!(%error, "queued jobs were not started: {error}");
            }
        }
    }

    /// Deletes expired results and old jobs, and updates metrics, until `stop`.
    pub async fn run_maintenance(self: Arc<JobQueue>, stop: CancellationToken) {
        let [mut sweep, mut count, mut scan] =
            [SWEEP_EVERY, COUNT_EVERY, SCAN_EVERY].map(|period| {
                let mut steady = interval(period);
                steady.set_missed_tick_behavior(MissedTickBehavior::Delay);
                steady
            });
        loop {
            let kept = tokio::select! {
                () = stop.cancelled() => return,
                _ = sweep.tick() => self.delete_expired().await,
                _ = count.tick() => self.update_metrics().await,
                _ = scan.tick() => self.drop_orphans().await,
            };
            if let Err(error) = kept {
                tracing::warn!(error, "the maintenance of the job queue failed: {error}");
            }
        }
    }

    /// Called when another node may have queued a job.
    pub fn wake(&self) {
        self.added.notify_one();
    }

    /// For a store that one process owns: leases from before its start belong to dead processes.
    pub async fn break_leases(&self) -> Result<(), StoreError> {
        let write = StoreWrite::Job(Box::new(JobWrite::BreakLeases));
        self.parts.store.commit(WriteGroup::from_write(write)).await
    }

    /// Claims as many jobs as there are free slots.
    pub async fn claim_due_jobs(
        self: &Arc<JobQueue>,
        tasks: &TaskTracker,
        stop: &CancellationToken,
    ) -> Result<(), StoreError> {
        while self.claim_owner_round(tasks, stop).await? {}
        Ok(())
    }

    /// Claims at most one job of each owner. Returns false if no job could be claimed, or no slot
    /// is free.
    ///
    /// Reads all waiting owners, page by page: all owners of the first page may have another home
    /// node or be at their limit.
    async fn claim_owner_round(
        self: &Arc<JobQueue>,
        tasks: &TaskTracker,
        stop: &CancellationToken,
    ) -> Result<bool, StoreError> {
        let (now, page) = (self.now(), self.settings.owners_at_once);
        let (mut after, mut any) = (None, false);
        while self.has_place() {
            let due = self.parts.store.due_jobs(now, after, page).await?;
            let is_last = due.len() < page;
            after = due.last().map(QueuedJob::cursor);
            let chosen = self.choose_jobs(self.keep_home_jobs(due).await);
            any |= !chosen.is_empty();
            for job in chosen {
                if let Some(claimed) = self.claim_job(job).await? {
                    let jobs = Arc::clone(self);
                    let stop = stop.clone();
                    let run = JobRun::new(jobs, claimed).run_to_end(stop);
                    tasks.spawn(async move { catch_panic("job_run", run).await });
                }
            }
            if is_last {
                break;
            }
        }
        Ok(any)
    }

    fn has_place(&self) -> bool {
        self.lock().under_way.len() < self.settings.workers
    }

    /// Filters out the jobs of owners whose home is another node, which runs them.
    async fn keep_home_jobs(&self, due: Vec<QueuedJob>) -> Vec<QueuedJob> {
        let mut here = Vec::with_capacity(due.len());
        for job in due {
            if let Ok(OwnerHome::Here) = self.parts.ledger.home_of(job.owner).await {
                here.push(job);
            }
        }
        here
    }

    /// Chooses jobs in fair order for the free slots, and occupies the slots.
    fn choose_jobs(&self, due: Vec<QueuedJob>) -> Vec<QueuedJob> {
        let mut here = self.lock();
        let free = self.settings.workers.saturating_sub(here.under_way.len());
        let due = due.into_iter().filter(|job| !here.under_way.contains(&job.id)).collect();
        let mut chosen = here.turns.order_jobs(due, self.settings.running_per_owner_max);
        chosen.truncate(free);
        for job in &chosen {
            here.under_way.insert(job.id);
            here.turns.begin_turn(job.owner);
        }
        chosen
    }

    /// `None` if another worker claimed it first.
    async fn claim_job(&self, mut job: QueuedJob) -> Result<Option<QueuedJob>, StoreError> {
        let at = self.now();
        let lease_until = at.plus(self.settings.lease);
        let step = JobStep::Claim { lease_until };
        let write = JobWrite::Step { job: job.id, fence: job.fence, step, at };
        let claimed =
            self.parts.store.commit(WriteGroup::from_write(StoreWrite::Job(Box::new(write)))).await;
        if let Err(error) = claimed {
            self.release_slot(&job);
            return if matches!(error, StoreError::Missing(_)) { Ok(None) } else { Err(error) };
        }
        job.fence += 1;
        job.started = job.started.or(Some(at));
        Ok(Some(job))
    }

    pub(crate) fn release_slot(&self, job: &QueuedJob) {
        let mut here = self.lock();
        here.advances.remove(&job.id);
        if here.under_way.remove(&job.id) {
            here.turns.end_turn(job.owner);
        }
    }

    async fn update_metrics(&self) -> Result<(), String> {
        let counts = self.parts.store.job_counts().await.map_err(|error| error.to_string())?;
        let now = self.now();
        for state in ["QUEUED", "RUNNING", "UNKNOWN"] {
            let count = counts.iter().find(|count| count.state.name() == state);
            let jobs = count.map_or(0, |count| count.jobs);
            let oldest = count.and_then(|count| count.oldest).map(|at| now.since(at));
            metrics::gauge!("jobs_open", "state" => state).set(jobs as f64);
            metrics::gauge!("jobs_oldest_seconds", "state" => state)
                .set(oldest.unwrap_or_default().as_secs_f64());
        }
        metrics::gauge!("jobs_under_way").set(self.lock().under_way.len() as f64);
        Ok(())
    }
}
