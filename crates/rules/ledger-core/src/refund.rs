//! Refunds a charge, once.

use moment::Timestamp;
use money::Nano;

use crate::account::SystemKind;
use crate::charge::SettledCharge;
use crate::command::{AMOUNT_MAX, ChargeSource};
use crate::group::{RecordGroup, SpendDirection};
use crate::id::{EntryId, OwnerId};
use crate::ledger::CreditLedger;
use crate::outcome::{AppliedCommand, CommandOutcome, RefundReceipt};
use crate::record::TransferCode;
use crate::rejection::CommandRejection;

impl CreditLedger {
    pub(crate) fn refund_charge(
        &mut self,
        charge_entry: EntryId,
        source: &ChargeSource,
        now: Timestamp,
    ) -> Result<AppliedCommand, CommandRejection> {
        let entry = charge_entry.refund_entry();
        #[cfg(test)]
        let entry = self.mutant.alter_refund_entry(entry, now);
        if self.recent.contains(entry) {
            let earlier = self.recent.outcome(entry);
            return Err(CommandRejection::AlreadyRefunded { earlier });
        }
        let charge = match (self.recent.charge(charge_entry), source) {
            (_, ChargeSource::Part(part)) => part,
            (Some(charge), _) => charge,
            (None, ChargeSource::Journal(charge)) => charge,
            (None, ChargeSource::Recent) => return Err(CommandRejection::NoSuchCharge),
        };
        let owner = charge.find_payer()?;

        let stamp = charge.key.map(|stamp| stamp.of_refund(now));
        let mut group = RecordGroup::with_key(entry, now, stamp);
        let (mut returned, mut lapsed) = (Vec::new(), Vec::new());
        for leg in &charge.legs {
            group.credit_lot(TransferCode::Refund, *leg, SystemKind::Revenue);
            // A closed lot has expired too.
            let is_live = self.lot(&leg.lot).is_some_and(|lot| lot.is_live(now));
            if is_live {
                returned.push(*leg);
            } else {
                group.debit_lot(TransferCode::Expiry, *leg, SystemKind::Expired);
                lapsed.push(*leg);
            }
        }
        group.transfer_between_systems(
            SystemKind::Revenue,
            SystemKind::Writeoff,
            charge.written_off,
        );
        group.count_for_key(&charge.legs, SpendDirection::GivenBack);

        let records = self.apply_records(group.into_records());
        let remaining = self.balances(owner, now);
        let refund = RefundReceipt { entry, returned, lapsed, remaining };
        Ok(self.finish_entry(entry, records, CommandOutcome::Refunded(refund)))
    }
}

impl SettledCharge {
    /// The owner that paid. Refuses a charge without legs, and amounts that no settle could have
    /// charged.
    fn find_payer(&self) -> Result<OwnerId, CommandRejection> {
        let first = self.legs.first().ok_or(CommandRejection::NoSuchCharge)?;
        let in_range = |amount: Nano| Nano::ZERO <= amount && amount <= AMOUNT_MAX;
        let is_sound =
            in_range(self.written_off) && self.legs.iter().all(|leg| in_range(leg.amount));
        if is_sound { Ok(first.lot.owner) } else { Err(CommandRejection::InvalidAmount) }
    }
}
