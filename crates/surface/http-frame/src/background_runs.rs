//! The background responses that run in this process: how to cancel them, and how far they are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ledger_core::OwnerId;
use store::model_response::ResponseId;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

/// The runs of this process. The rows in the store are authoritative.
#[derive(Default)]
pub struct BackgroundRuns {
    runs: Mutex<HashMap<ResponseId, RunHandle>>,
    added: Notify,
}

struct RunHandle {
    owner: OwnerId,
    cancel: CancellationToken,
    progress: watch::Sender<u64>,
}

/// A run's place among the running ones, which is freed on drop, even after a panic.
pub struct RunPlace {
    runs: Arc<BackgroundRuns>,
    pub id: ResponseId,
    pub cancel: CancellationToken,
}

impl BackgroundRuns {
    /// Wakes the worker: a response was queued or is to be cancelled.
    pub fn wake(&self) {
        self.added.notify_one();
    }

    pub async fn wait_for_work(&self) {
        self.added.notified().await;
    }

    /// Takes a place for a run; None if it runs here already, or if too many do.
    pub fn begin(
        self: &Arc<BackgroundRuns>,
        id: ResponseId,
        owner: OwnerId,
        limits: RunLimits,
    ) -> Option<RunPlace> {
        let mut runs = self.lock();
        let of_owner = runs.values().filter(|run| run.owner == owner).count();
        let is_full = limits.runs_max <= runs.len() || limits.per_owner_max <= of_owner;
        if is_full || runs.contains_key(&id) {
            return None;
        }
        let cancel = CancellationToken::new();
        let (progress, _) = watch::channel(0);
        runs.insert(id, RunHandle { owner, cancel: cancel.clone(), progress });
        Some(RunPlace { runs: Arc::clone(self), id, cancel })
    }

    pub fn has_place(&self, limits: RunLimits) -> bool {
        self.lock().len() < limits.runs_max
    }

    /// Tells a run to end. Does nothing if it does not run here.
    pub fn cancel(&self, id: ResponseId) {
        if let Some(run) = self.lock().get(&id) {
            run.cancel.cancel();
        }
    }

    /// Changes with each step of a run; None if it does not run here. Closed at its end.
    pub fn watch(&self, id: ResponseId) -> Option<watch::Receiver<u64>> {
        self.lock().get(&id).map(|run| run.progress.subscribe())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ResponseId, RunHandle>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bounds of the runs of one process.
#[derive(Debug, Clone, Copy)]
pub struct RunLimits {
    pub runs_max: usize,
    pub per_owner_max: usize,
}

impl RunPlace {
    /// Tells readers that something was stored.
    pub fn note_progress(&self) {
        if let Some(run) = self.runs.lock().get(&self.id) {
            run.progress.send_modify(|steps| *steps = steps.wrapping_add(1));
        }
    }
}

impl Drop for RunPlace {
    fn drop(&mut self) {
        self.runs.lock().remove(&self.id);
        self.runs.wake();
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_run_has_one_place_and_an_owner_a_share_of_them() {
        let runs = Arc::new(BackgroundRuns::default());
        let [one, two] = [1, 2].map(|number| OwnerId(Uuid::from_u128(number)));
        let id = |number| ResponseId(Uuid::from_u128(number));
        let limits = RunLimits { runs_max: 2, per_owner_max: 1 };
        let first = runs.begin(id(1), one, limits).unwrap();
        assert!(runs.begin(id(1), two, limits).is_none());
        assert!(runs.begin(id(2), one, limits).is_none());
        let second = runs.begin(id(2), two, limits).unwrap();
        assert!(!runs.has_place(limits));
        runs.cancel(id(1));
        assert!(first.cancel.is_cancelled() && !second.cancel.is_cancelled());
        let mut progress = runs.watch(id(2)).unwrap();
        second.note_progress();
        assert!(progress.has_changed().unwrap());
        progress.mark_unchanged();
        drop(second);
        assert!(progress.has_changed().is_err());
        assert!(runs.watch(id(2)).is_none() && runs.has_place(limits));
    }
}
