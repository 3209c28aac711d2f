//! Payments that were credited, looked up again: a chain may take back what it showed.
//!
//! What is gone is sent once more, which moves the money as long as the authorization is good, and is
//! noted in the store until the chain shows it again. A balance is never taken back by itself: it may
//! be spent, and the chain may change its mind once more.

use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use moment::Timestamp;
use store::claim::Claim;
use store::error::StoreError;
use store::write::{Group, Write};

use crate::payments::Payments;
use crate::settler::{Setback, Sighting};

/// The ages at which a payment is looked up again, in multiples of the policy's `recheck_after`: with
/// a minute, the last one is an hour, by when the chains that we know are final.
const AGES: [u32; 5] = [1, 3, 10, 30, 60];
/// Payments that are asked about side by side.
const CLAIMS_AT_ONCE: usize = 8;
/// A node that does not answer so often in a row will not answer the rest either.
const SETBACKS_MAX: usize = 3;

impl Payments {
    /// Looks up what has reached one of the ages since the last time, and what was missing then. Gives
    /// the moment to go on from the next time, which is the same one if a node did not answer.
    pub async fn recheck(&self, last: Timestamp) -> Result<Timestamp, StoreError> {
        let now = self.desk.clock.now();
        let mut due = self.desk.store.missing_claims().await?;
        let missing: Vec<_> = due.iter().map(|claim| claim.id).collect();
        for (after, until) in spans(self.desk.policy.recheck_after, last, now) {
            let credited = self.desk.store.claims_credited_between(after, until).await?;
            due.extend(credited.into_iter().filter(|claim| !missing.contains(&claim.id)));
        }
        let looks = due.into_iter().map(|claim| async move {
            let seen = self.desk.settler.look(&claim).await;
            (claim, seen)
        });
        let mut looks = stream::iter(looks).buffer_unordered(CLAIMS_AT_ONCE);
        let mut setbacks = 0;
        while let Some((claim, seen)) = looks.next().await {
            match seen {
                Ok(sighting) => self.note(&claim, &sighting, missing.contains(&claim.id)).await?,
                Err(setback) => {
                    tell_setback(&setback);
                    setbacks += 1;
                }
            }
            if SETBACKS_MAX <= setbacks {
                break;
            }
        }
        let missing = self.desk.store.missing_claims().await?.len();
        metrics::gauge!("settle_missing_claims").set(missing as f64);
        Ok(if setbacks == 0 { now } else { last })
    }

    /// Where looking up begins in a new process: what it did not live to look up is due at once.
    pub fn recheck_from(&self) -> Timestamp {
        let longest = self.desk.policy.recheck_after.saturating_mul(AGES[AGES.len() - 1]);
        self.desk.clock.now().minus(longest)
    }

    async fn note(
        &self,
        claim: &Claim,
        sighting: &Sighting,
        was_missing: bool,
    ) -> Result<(), StoreError> {
        let transaction = claim.sent.transaction.as_deref().unwrap_or_default();
        let is_there = matches!(sighting, Sighting::Moved(_));
        if is_there && was_missing {
            tracing::info!(tx.hash = transaction, "a missing payment is on its chain again");
            self.desk.store.commit(Group::of(Write::NoteFoundClaim(claim.id))).await?;
        }
        if !is_there && !was_missing {
            tracing::error!(
                tx.hash = transaction,
                payer = %claim.payer,
                network = %claim.network,
                "a payment that was credited is not on its chain any more: {transaction}"
            );
            let write = Write::NoteMissingClaim { claim: claim.id, at: self.desk.clock.now() };
            self.desk.store.commit(Group::of(write)).await?;
        }
        // What the chain has forgotten moves the money that was credited, or nothing.
        if matches!(sighting, Sighting::Waiting { .. })
            && let Err(setback) = self.desk.settler.send(claim).await
        {
            tell_setback(&setback);
        }
        Ok(())
    }
}

fn tell_setback(setback: &Setback) {
    tracing::warn!(cause = %setback, "a credited payment could not be looked up: {setback}");
}

/// From when to when payments must have been credited to have reached an age since `last`.
fn spans(
    unit: Duration,
    last: Timestamp,
    now: Timestamp,
) -> impl Iterator<Item = (Timestamp, Timestamp)> {
    AGES.into_iter().map(move |age| {
        let age = unit.saturating_mul(age);
        (last.minus(age), now.minus(age))
    })
}
