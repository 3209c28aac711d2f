//! Claims batches in fair order, and deletes what is no longer needed.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use background::catch_panic;
use ledger::OwnerHome;
use store::batch::{BatchId, BatchState, BatchWrite, StoredBatch};
use store::error::StoreError;
use store::file::FileWrite;
use store::write::{StoreWrite, WriteGroup};
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::line_server::LineServer;
use crate::run::BatchRun;
use crate::service::{ActiveBatch, BatchService};

/// Interval of looking for batches whose runner died.
const LOOK_EVERY: Duration = Duration::from_secs(1);
const SWEEP_EVERY: Duration = Duration::from_secs(10);
/// Batches read per query.
const BATCHES_AT_ONCE: usize = 256;
/// Rows deleted per sweep, so that other writes do not wait long.
const ROWS_DROPPED_MAX: usize = 1000;
/// Pause of a batch whose run was broken off by a fault.
const REST: Duration = Duration::from_secs(5);

impl BatchService {
    /// Claims and runs batches until `stop`. They are then left for the next start to continue.
    pub async fn run_worker(
        self: Arc<BatchService>,
        server: Arc<dyn LineServer>,
        tasks: TaskTracker,
        stop: CancellationToken,
    ) {
        let mut look = interval(LOOK_EVERY);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = look.tick() => {}
                () = self.added.notified() => {}
            }
            if let Err(error) = self.claim_due_batches(&server, &tasks, &stop).await {
                tracing::warn!(%error, "batches were not taken up: {error}");
            }
        }
    }

    /// Deletes results that are in files, files that are gone and old batches, until `stop`.
    pub async fn run_maintenance(self: Arc<BatchService>, stop: CancellationToken) {
        let mut sweep = interval(SWEEP_EVERY);
        sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = sweep.tick() => {}
            }
            if let Err(error) = self.drop_old_rows().await {
                tracing::warn!(%error, "old batches were not deleted: {error}");
            }
        }
    }

    pub async fn drop_old_rows(&self) -> Result<(), StoreError> {
        let (rows_max, before) = (ROWS_DROPPED_MAX, self.now().minus(self.settings.retention));
        let writes: [StoreWrite; 3] = [
            BatchWrite::DropLines { rows_max }.into(),
            BatchWrite::DropEnded { before, rows_max }.into(),
            FileWrite::DropGone { rows_max }.into(),
        ];
        for write in writes {
            self.parts.store.commit(WriteGroup::from_write(write)).await?;
        }
        Ok(())
    }

    /// Begins a turn of as many batches as there are places. Returns their number.
    pub async fn claim_due_batches(
        self: &Arc<BatchService>,
        server: &Arc<dyn LineServer>,
        tasks: &TaskTracker,
        stop: &CancellationToken,
    ) -> Result<usize, StoreError> {
        let due = self.list_due().await?;
        let chosen = self.choose_batches(due);
        let claimed = chosen.len();
        for (batch, is_cancelled) in chosen {
            let service = Arc::clone(self);
            let run = BatchRun {
                service: Arc::clone(self),
                server: Arc::clone(server),
                is_cancelled,
                stop: stop.clone(),
            };
            tasks.spawn(async move {
                let id = batch.id;
                let turn = TurnGuard { service: &service, id };
                match catch_panic("batch_run", run.run(id)).await {
                    Some(Ok(())) => {}
                    Some(Err(stopped)) => {
                        tracing::warn!(batch = %id.0, %stopped, "a batch was broken off: {stopped}");
                        turn.rest();
                    }
                    None => turn.rest(),
                }
            });
        }
        Ok(claimed)
    }

    /// The oldest open batch of each owner whose home is here. Other nodes run the others'.
    async fn list_due(&self) -> Result<Vec<StoredBatch>, StoreError> {
        let (mut after, mut here) = (None, Vec::new());
        loop {
            let due = self.parts.store.due_batches(after, BATCHES_AT_ONCE).await?;
            let is_last = due.len() < BATCHES_AT_ONCE;
            after = due.last().map(|batch| batch.id);
            for batch in due {
                if let Ok(OwnerHome::Here) = self.parts.ledger.home_of(batch.owner).await {
                    here.push(batch);
                }
            }
            if is_last {
                return Ok(here);
            }
        }
    }

    /// Chooses batches in fair order for the free places, and occupies the places.
    fn choose_batches(&self, due: Vec<StoredBatch>) -> Vec<(StoredBatch, Arc<AtomicBool>)> {
        let mut runs = self.lock_runs();
        let now = Instant::now();
        runs.resting.retain(|_, until| now < *until);
        let free = self.settings.concurrency.max(1).saturating_sub(runs.active.len());
        let is_free = |batch: &StoredBatch| {
            !runs.owners.contains(&batch.owner) && !runs.resting.contains_key(&batch.id)
        };
        let due = due.into_iter().filter(is_free).collect();
        let mut chosen = runs.turns.order_batches(due);
        runs.has_waiting = free < chosen.len();
        chosen.truncate(free);
        let claim = |batch: StoredBatch| {
            let is_cancelled = Arc::new(AtomicBool::new(batch.state == BatchState::Cancelling));
            let (owner, active) = (batch.owner, Arc::clone(&is_cancelled));
            runs.owners.insert(owner);
            runs.active.insert(batch.id, ActiveBatch { owner, is_cancelled: active });
            runs.turns.begin_turn(owner);
            (batch, is_cancelled)
        };
        chosen.into_iter().map(claim).collect()
    }
}

/// The place of a running batch, free again on drop.
struct TurnGuard<'a> {
    service: &'a BatchService,
    id: BatchId,
}

impl TurnGuard<'_> {
    fn rest(&self) {
        self.service.lock_runs().resting.insert(self.id, Instant::now() + REST);
    }
}

impl Drop for TurnGuard<'_> {
    fn drop(&mut self) {
        let mut runs = self.service.lock_runs();
        if let Some(active) = runs.active.remove(&self.id) {
            runs.owners.remove(&active.owner);
        }
        drop(runs);
        self.service.added.notify_one();
    }
}
