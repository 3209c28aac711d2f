//! Payments that are being processed: a second request with the same payment waits for the same
//! outcome.

use std::sync::Arc;

use logging::request::with_current_request_id;
use single_flight::{FlightFollower, FlightRole, SingleFlight};
use store::claim::ClaimId;
use tokio_util::task::TaskTracker;

use crate::outcome::{SettledPayment, TopUpRefusal};

/// Payments processed concurrently. Each costs a few requests to a node.
pub(crate) const IN_FLIGHT_MAX: usize = 256;

pub(crate) type SettlementOutcome = Result<SettledPayment, TopUpRefusal>;

/// Payments in progress. Each is a task of its own, so that a client that disconnects stops
/// nothing.
#[derive(Clone)]
pub(crate) struct InFlightPayments {
    tasks: TaskTracker,
    under_way: Arc<SingleFlight<ClaimId, SettlementOutcome>>,
}

impl InFlightPayments {
    pub(crate) fn new(tasks: TaskTracker) -> InFlightPayments {
        InFlightPayments { tasks, under_way: Arc::default() }
    }

    pub(crate) fn is_under_way(&self, claim: ClaimId) -> bool {
        self.under_way.is_under_way(&claim)
    }

    /// Joins the task of a claim, or starts it. None if too many are in progress.
    pub(crate) fn join<F>(
        &self,
        claim: ClaimId,
        steps: impl FnOnce() -> F,
    ) -> Option<FlightFollower<SettlementOutcome>>
    where
        F: Future<Output = SettlementOutcome> + Send + 'static,
    {
        let leader = match self.under_way.join(claim) {
            FlightRole::Follow(follower) => return Some(follower),
            FlightRole::Lead(leader) => leader,
        };
        if IN_FLIGHT_MAX < self.under_way.count() {
            return None;
        }
        let (follower, steps) = (leader.add_follower(), steps());
        self.tasks.spawn(with_current_request_id(async move { leader.finish(&steps.await) }));
        Some(follower)
    }
}
