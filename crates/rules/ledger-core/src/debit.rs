//! Takes back credit that the operator gave.

use moment::Timestamp;
use money::Nano;

use crate::account::SystemKind;
use crate::charge::PaymentLeg;
use crate::command::AMOUNT_MAX;
use crate::group::RecordGroup;
use crate::id::EntryId;
use crate::ledger::CreditLedger;
use crate::outcome::{AppliedCommand, CommandOutcome};
use crate::owner_lots::CreditLot;
use crate::record::TransferCode;
use crate::rejection::CommandRejection;

impl CreditLedger {
    /// Takes at most the remainder of `given`, the net sum of the operator's grants to the lot.
    pub(crate) fn take_back_credit(
        &mut self,
        entry: EntryId,
        leg: PaymentLeg,
        given: Nano,
        now: Timestamp,
    ) -> Result<AppliedCommand, CommandRejection> {
        let is_sound = leg.amount.is_positive() && leg.amount <= AMOUNT_MAX;
        if !is_sound {
            return Err(CommandRejection::InvalidAmount);
        }
        self.refuse_duplicate(entry)?;
        let owed = self.owed_so_far(&leg.lot);
        let left = self.lot(&leg.lot).map_or(Nano::ZERO, |lot| lot.left_of_given(given, owed));
        if left < leg.amount {
            return Err(CommandRejection::BeyondGiven { left, wanted: leg.amount });
        }
        let mut group = RecordGroup::new(entry, now);
        group.debit_lot(TransferCode::TakeBack, leg, SystemKind::Issuance);
        let records = self.apply_records(group.into_records());
        let outcome = CommandOutcome::Debited(self.balances(leg.lot.owner, now));
        Ok(self.finish_entry(entry, records, outcome))
    }
}

impl CreditLot {
    /// The part of `given` that is neither spent nor held. Spending is counted against granted
    /// credit first, so that money that was paid in is never taken back; but for `owed`, the part of
    /// it that became debts, which no grant repays.
    pub(crate) fn left_of_given(&self, given: Nano, owed: Nano) -> Nano {
        let spent = self.granted.saturating_sub(self.balance());
        let spent = spent.saturating_sub(owed).max(Nano::ZERO);
        given.saturating_sub(spent).min(self.available()).max(Nano::ZERO)
    }
}
