//! One course for each payment: whoever sends the same payment meanwhile waits for the same end.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use store::claim::ClaimId;
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

use crate::outcome::{Settled, TopUpRefused};

/// Payments that may be on their way at once. Each costs a few requests to a node.
pub(crate) const FLIGHTS_MAX: usize = 256;

pub(crate) type Outcome = Result<Settled, TopUpRefused>;

/// Payments on their way. The work is a task of its own, so a client that hangs up stops nothing.
#[derive(Clone)]
pub(crate) struct InFlightPayments {
    tasks: TaskTracker,
    under_way: Arc<Mutex<HashMap<ClaimId, watch::Receiver<Option<Outcome>>>>>,
}

/// What a passenger waits on.
pub(crate) struct PendingOutcome(watch::Receiver<Option<Outcome>>);

impl InFlightPayments {
    pub(crate) fn new(tasks: TaskTracker) -> InFlightPayments {
        InFlightPayments { tasks, under_way: Arc::default() }
    }

    pub(crate) fn is_under_way(&self, claim: ClaimId) -> bool {
        self.lock().contains_key(&claim)
    }

    /// Joins the course of a claim, or starts it. None if there is no room for another one.
    pub(crate) fn board<F>(
        &self,
        claim: ClaimId,
        course: impl FnOnce() -> F,
    ) -> Option<PendingOutcome>
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let mut under_way = self.lock();
        if let Some(landing) = under_way.get(&claim) {
            return Some(PendingOutcome(landing.clone()));
        }
        if FLIGHTS_MAX <= under_way.len() {
            return None;
        }
        let (land, landing) = watch::channel(None);
        under_way.insert(claim, landing.clone());
        drop(under_way);
        let (course, ended) = (course(), Ended { in_flight: self.clone(), claim });
        self.tasks.spawn(async move {
            let outcome = course.await;
            // First it is gone from the list: whoever comes later finds the claim in the store.
            drop(ended);
            land.send_replace(Some(outcome));
        });
        Some(PendingOutcome(landing))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ClaimId, watch::Receiver<Option<Outcome>>>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingOutcome {
    /// None if the course broke off, which only a bug can do.
    pub(crate) async fn landed(mut self) -> Option<Outcome> {
        self.0.wait_for(Option::is_some).await.ok()?.clone()
    }
}

/// Takes a course off the list, even if it panicked.
struct Ended {
    in_flight: InFlightPayments,
    claim: ClaimId,
}

impl Drop for Ended {
    fn drop(&mut self) {
        self.in_flight.lock().remove(&self.claim);
    }
}
