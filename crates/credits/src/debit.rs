//! Takes back credit that the operator gave.

use moment::Timestamp;
use money::Nano;

use crate::account::SystemKind;
use crate::charge::Leg;
use crate::command::AMOUNT_MAX;
use crate::group::Group;
use crate::id::EntryId;
use crate::ledger::Ledger;
use crate::outcome::{Applied, Outcome};
use crate::purse::Lot;
use crate::record::TransferCode;
use crate::rejection::Rejection;

impl Ledger {
    /// Takes at most the remainder of `given`, the net sum of the operator's grants to the lot.
    pub(crate) fn debit(
        &mut self,
        entry: EntryId,
        leg: Leg,
        given: Nano,
        now: Timestamp,
    ) -> Result<Applied, Rejection> {
        let is_sound = leg.amount.is_positive() && leg.amount <= AMOUNT_MAX;
        if !is_sound {
            return Err(Rejection::InvalidAmount);
        }
        self.refuse_duplicate(entry)?;
        let left = self.lot(&leg.lot).map_or(Nano::ZERO, |lot| lot.left_of_given(given));
        if left < leg.amount {
            return Err(Rejection::BeyondGiven { left, wanted: leg.amount });
        }
        let mut group = Group::new(entry, now);
        group.take(TransferCode::TakeBack, leg, SystemKind::Issuance);
        let records = self.commit(group.into_records());
        let outcome = Outcome::Debited(self.balances(leg.lot.owner, now));
        Ok(self.applied(entry, records, outcome))
    }
}

impl Lot {
    /// The part of `given` that is neither spent nor held. Spending is counted against granted
    /// credit first, so that money that was paid in is never taken back.
    fn left_of_given(&self, given: Nano) -> Nano {
        let spent = self.granted.saturating_sub(self.balance());
        given.saturating_sub(spent).min(self.available()).max(Nano::ZERO)
    }
}
