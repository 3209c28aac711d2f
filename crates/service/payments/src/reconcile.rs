//! Continues claims that no request waits for: after a restart, and after a request ended with the
//! payment pending.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use ledger::OwnerHome;
use store::claim::{ClaimSpan, ClaimState, PaymentClaim};
use store::error::StoreError;
use store::leases::PAYMENTS;
use store::write::{StoreWrite, WriteGroup};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::payments::PaymentService;

/// Interval at which unfinished claims are looked up on the chain.
const RECONCILE_EVERY: Duration = Duration::from_secs(5);
/// Claims looked up concurrently.
const CLAIMS_AT_ONCE: usize = 8;
/// Failed claims are kept this long, so that the outcome of a payment can be queried.
const FAILED_KEPT: Duration = Duration::from_secs(7 * 86_400);
const FAILED_DROPPED_MAX: usize = 1000;

/// The result of a pass over the unfinished claims.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReconcileSummary {
    pub credited: usize,
    pub failed: usize,
    /// Claims that stay unfinished until the chain answers.
    pub waiting: usize,
}

impl PaymentService {
    /// Looks up every unfinished claim that no request waits for, and credits or fails it if
    /// possible.
    pub async fn reconcile(&self) -> Result<ReconcileSummary, StoreError> {
        if !self.is_here().await {
            return Ok(ReconcileSummary::default());
        }
        let claims = self.desk.store.unfinished_claims().await?;
        let outcomes = claims.into_iter().filter_map(|claim| {
            if self.in_flight.is_under_way(claim.id) {
                return None;
            }
            let (desk, id) = (Arc::clone(&self.desk), claim.id);
            Some(async move {
                let pending = self.in_flight.join(id, || async move { desk.resume(id).await });
                match pending {
                    Some(pending) => pending.wait_for_outcome().await,
                    None => None,
                }
            })
        });
        let mut outcomes = stream::iter(outcomes).buffer_unordered(CLAIMS_AT_ONCE);
        let mut round = ReconcileSummary::default();
        while let Some(outcome) = outcomes.next().await {
            match outcome {
                Some(Ok(_)) => round.credited += 1,
                Some(Err(refused)) if refused.is_final() => round.failed += 1,
                _ => round.waiting += 1,
            }
        }
        metrics::gauge!("settle_waiting_claims").set(round.waiting as f64);
        self.clear_blocking_transactions().await?;
        Ok(round)
    }

    /// Clears leftover transactions of ended claims that block unfinished ones.
    async fn clear_blocking_transactions(&self) -> Result<(), StoreError> {
        let unfinished = self.desk.store.unfinished_claims().await?;
        if unfinished.is_empty() {
            return Ok(());
        }
        let (after, until) = (self.recheck_from(), self.desk.clock.now());
        let span = ClaimSpan { state: ClaimState::Credited, after, until };
        let mut credited: Vec<PaymentClaim> = Vec::new();
        loop {
            let beyond = credited.last().map(PaymentClaim::cursor);
            let page = self.desk.store.claims_changed(span, beyond).await?;
            if page.is_empty() {
                break;
            }
            credited.extend(page);
        }
        if let Err(setback) =
            self.desk.settler.clear_blocking_transactions(&unfinished, &credited).await
        {
            tracing::warn!(cause = %setback, "payments may be delayed: {setback}");
        }
        Ok(())
    }

    /// True if this node processes the payments: only one does.
    async fn is_here(&self) -> bool {
        matches!(self.desk.ledger.home_of(PAYMENTS).await, Ok(OwnerHome::Here))
    }

    /// Reconciles at once and every few seconds, and looks up ended payments again, until `stop`.
    pub async fn run_reconciliation(self, stop: CancellationToken) {
        let mut round = interval(RECONCILE_EVERY);
        round.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut rechecked = self.recheck_from();
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = round.tick() => {}
            }
            if !self.is_here().await {
                continue;
            }
            if let Err(error) = self.reconcile().await {
                tracing::warn!(%error, "payments could not be reconciled: {error}");
            }
            match self.recheck(rechecked).await {
                Ok(until) => rechecked = until,
                Err(error) => tracing::warn!(%error, "payments could not be rechecked: {error}"),
            }
            let before = self.desk.clock.now().minus(FAILED_KEPT);
            let write = StoreWrite::DropFailedClaims { before, rows_max: FAILED_DROPPED_MAX };
            if let Err(error) = self.desk.store.commit(WriteGroup::from_write(write)).await {
                tracing::warn!(%error, "expired failed payments were not deleted: {error}");
            }
        }
    }
}
