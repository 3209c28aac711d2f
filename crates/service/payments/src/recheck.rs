//! Looks up payments again after they ended: a chain can reorganise, so that a payment disappears
//! or appears late.
//!
//! A credited payment that disappeared is sent once more, which moves the money as long as the
//! authorization is valid, and is noted in the store until the chain shows it again. A balance is
//! never reduced automatically: it may be spent, and the payment may reappear. A failed payment
//! that is on the chain after all is credited.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use moment::Timestamp;
use store::claim::{ClaimId, ClaimSpan, ClaimState, PaymentClaim};
use store::error::StoreError;
use store::write::{StoreWrite, WriteGroup};

use crate::payments::PaymentService;
use crate::settler::{ChainSighting, SettleFailure};

/// The ages at which a payment is looked up again, in multiples of the policy's `recheck_after`:
/// with a minute, the last is an hour, by when the supported chains are final.
const AGES: [u32; 5] = [1, 3, 10, 30, 60];
/// Payments looked up concurrently.
const CLAIMS_AT_ONCE: usize = 8;
/// Failed lookups in one pass after which the rest are skipped.
const SETBACKS_MAX: usize = 3;

impl PaymentService {
    /// Looks up the payments that have reached one of the ages since `last`, and those that were
    /// missing. Returns the time to pass in next, which is `last` again if a node did not answer.
    pub async fn recheck(&self, last: Timestamp) -> Result<Timestamp, StoreError> {
        let now = self.desk.clock.now();
        let missing = self.desk.store.missing_claims().await?;
        let known: Vec<_> = missing.iter().map(|claim| claim.id).collect();
        let mut setbacks = self.look_up(missing, &known).await?;
        for (after, until) in compute_age_spans(self.desk.policy.recheck_after, last, now) {
            for state in [ClaimState::Credited, ClaimState::Failed] {
                let span = ClaimSpan { state, after, until };
                let mut beyond = None;
                while setbacks < SETBACKS_MAX {
                    let page = self.desk.store.claims_changed(span, beyond).await?;
                    let Some(last) = page.last() else { break };
                    beyond = Some(last.cursor());
                    setbacks += match state {
                        ClaimState::Failed => self.look_up_failed(page).await,
                        _ => {
                            let due = page.into_iter().filter(|claim| !known.contains(&claim.id));
                            self.look_up(due.collect(), &known).await?
                        }
                    };
                }
            }
        }
        let missing = self.desk.store.missing_claims().await?.len();
        metrics::gauge!("settle_missing_claims").set(missing as f64);
        let received = self.desk.store.received_claims().await?.len();
        metrics::gauge!("settle_received_claims").set(received as f64);
        Ok(if setbacks == 0 { now } else { last })
    }

    /// The value of `last` for a new process: lookups that the previous one missed are due at once.
    pub fn recheck_from(&self) -> Timestamp {
        let longest = self.desk.policy.recheck_after.saturating_mul(AGES[AGES.len() - 1]);
        self.desk.clock.now().minus(longest)
    }

    /// Looks up credited claims. Returns the number of failed lookups.
    async fn look_up(
        &self,
        due: Vec<PaymentClaim>,
        missing: &[ClaimId],
    ) -> Result<usize, StoreError> {
        let looks = due.into_iter().map(|claim| async move {
            let seen = self.desk.settler.look_up(&claim).await;
            (claim, seen)
        });
        let mut looks = stream::iter(looks).buffer_unordered(CLAIMS_AT_ONCE);
        let mut setbacks = 0;
        while let Some((claim, seen)) = looks.next().await {
            match seen {
                Ok(sighting) => {
                    self.record_sighting(&claim, &sighting, missing.contains(&claim.id)).await?
                }
                Err(setback) => {
                    log_failure(&setback);
                    setbacks += 1;
                }
            }
            if SETBACKS_MAX <= setbacks {
                break;
            }
        }
        Ok(setbacks)
    }

    /// Looks up failed claims, each in its own task, because its payer may be sending it again.
    /// Returns the number of failed lookups.
    async fn look_up_failed(&self, due: Vec<PaymentClaim>) -> usize {
        let asked = due.into_iter().filter(can_have_moved).map(|claim| {
            let (desk, id) = (Arc::clone(&self.desk), claim.id);
            async move {
                let pending =
                    self.in_flight.join(id, || async move { desk.look_up_again(id).await });
                match pending {
                    Some(pending) => pending.wait_for_outcome().await,
                    None => None,
                }
            }
        });
        let mut asked = stream::iter(asked).buffer_unordered(CLAIMS_AT_ONCE);
        let mut setbacks = 0;
        while let Some(outcome) = asked.next().await {
            let is_known = outcome.is_some_and(|outcome| match outcome {
                Ok(_) => true,
                Err(refused) => !refused.is_ours(),
            });
            setbacks += usize::from(!is_known);
            if SETBACKS_MAX <= setbacks {
                break;
            }
        }
        setbacks
    }

    async fn record_sighting(
        &self,
        claim: &PaymentClaim,
        sighting: &ChainSighting,
        was_missing: bool,
    ) -> Result<(), StoreError> {
        let transaction = claim.sent.transaction.as_deref().unwrap_or_default();
        let is_there = matches!(sighting, ChainSighting::Moved(_));
        if is_there && was_missing {
            tracing::info!(tx.hash = transaction, "a missing payment is on its chain again");
            self.desk
                .store
                .commit(WriteGroup::from_write(StoreWrite::NoteFoundClaim(claim.id)))
                .await?;
        }
        if !is_there && !was_missing {
            tracing::error!(
                tx.hash = transaction,
                payer = %claim.payer,
                network = %claim.network,
                "a credited payment is missing on its chain: {transaction}"
            );
            let write = StoreWrite::NoteMissingClaim { claim: claim.id, at: self.desk.clock.now() };
            self.desk.store.commit(WriteGroup::from_write(write)).await?;
        }
        // Sending it again moves the money that was credited, or nothing.
        if matches!(sighting, ChainSighting::Waiting { .. })
            && let Err(setback) = self.desk.settler.send(claim).await
        {
            log_failure(&setback);
        }
        Ok(())
    }
}

/// True if the payment can be on the chain. Anyone can send an EVM authorization; a Solana
/// transaction lacks our signature until we send it.
fn can_have_moved(claim: &PaymentClaim) -> bool {
    claim.was_sent() || claim.network.starts_with("eip155:")
}

fn log_failure(setback: &SettleFailure) {
    tracing::warn!(cause = %setback, "a credited payment could not be looked up: {setback}");
}

/// The time spans in which payments must have ended to have reached an age since `last`.
fn compute_age_spans(
    unit: Duration,
    last: Timestamp,
    now: Timestamp,
) -> impl Iterator<Item = (Timestamp, Timestamp)> {
    AGES.into_iter().map(move |age| {
        let age = unit.saturating_mul(age);
        (last.minus(age), now.minus(age))
    })
}
