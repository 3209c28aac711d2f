//! Payments that are being processed: a second request with the same payment waits for the same
//! outcome.

use std::sync::Arc;

use logging::request::work_for_same;
use single_flight::{Follower, Role, SingleFlight};
use store::claim::ClaimId;
use tokio_util::task::TaskTracker;

use crate::outcome::{Settled, TopUpRefused};

/// Payments that may be processed at once. Each costs a few requests to a node.
pub(crate) const IN_FLIGHT_MAX: usize = 256;

pub(crate) type Outcome = Result<Settled, TopUpRefused>;

/// The work is a task of its own, so a client that hangs up stops nothing.
#[derive(Clone)]
pub(crate) struct InFlightPayments {
    tasks: TaskTracker,
    under_way: Arc<SingleFlight<ClaimId, Outcome>>,
}

impl InFlightPayments {
    pub(crate) fn new(tasks: TaskTracker) -> InFlightPayments {
        InFlightPayments { tasks, under_way: Arc::default() }
    }

    pub(crate) fn is_under_way(&self, claim: ClaimId) -> bool {
        self.under_way.is_under_way(&claim)
    }

    /// Joins the steps of a claim, or starts them. None if there is no room for another one.
    pub(crate) fn join<F>(
        &self,
        claim: ClaimId,
        steps: impl FnOnce() -> F,
    ) -> Option<Follower<Outcome>>
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let leader = match self.under_way.join(claim) {
            Role::Follow(follower) => return Some(follower),
            Role::Lead(leader) => leader,
        };
        if IN_FLIGHT_MAX < self.under_way.count() {
            return None;
        }
        let (follower, steps) = (leader.follow(), steps());
        self.tasks.spawn(work_for_same(async move { leader.finish(&steps.await) }));
        Some(follower)
    }
}
