//! Limits what our own keys spend on fees per hour.
//!
//! Bounds the loss if fees explode or this program has a bug.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::settler::SettleFailure;

const HOUR: Duration = Duration::from_secs(3600);
/// Spending within this time is stored as one sum.
const SLOT: Duration = Duration::from_secs(60);

/// The fees of the last hour and their limit. A restart forgets the fees.
#[derive(Debug)]
pub(crate) struct FeeBudget {
    /// The name of the setting with the limit.
    setting: &'static str,
    /// The limit per hour, in the chain's smallest unit.
    hourly_max: u128,
    /// Oldest first. A `std::sync::Mutex`: held briefly and never across an await.
    slots: Mutex<VecDeque<FeeSlot>>,
}

#[derive(Debug)]
struct FeeSlot {
    since: Instant,
    spent: u128,
}

impl FeeBudget {
    pub(crate) fn new(setting: &'static str, hourly_max: u128) -> FeeBudget {
        FeeBudget { setting, hourly_max, slots: Mutex::default() }
    }

    /// Counts the maximum cost of a transaction, or refuses it if it exceeds the limit.
    pub(crate) fn reserve_fee(&self, amount: u128) -> Result<(), SettleFailure> {
        let now = Instant::now();
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        while slots.front().is_some_and(|slot| HOUR + SLOT <= now.duration_since(slot.since)) {
            slots.pop_front();
        }
        let spent = slots.iter().fold(0_u128, |sum, slot| sum.saturating_add(slot.spent));
        if self.hourly_max < spent.saturating_add(amount) {
            let setting = self.setting;
            metrics::counter!("settle_fees_capped", "setting" => setting).increment(1);
            tracing::error!(
                spent,
                amount,
                "fees of the last hour have come to `{setting}`: payments wait. If that many are \
                 right, raise it"
            );
            return Err(SettleFailure::Unable(format!(
                "the fees of the last hour have reached `{setting}`"
            )));
        }
        match slots.back_mut() {
            Some(slot) if now.duration_since(slot.since) < SLOT => slot.spent += amount,
            _ => slots.push_back(FeeSlot { since: now, spent: amount }),
        }
        Ok(())
    }
}
