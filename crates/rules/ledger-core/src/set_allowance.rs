//! Changes the amount that an owner gets each period.

use moment::Timestamp;
use money::Nano;

use crate::account::SystemKind;
use crate::allowance::AllowanceKind;
use crate::charge::PaymentLeg;
use crate::command::AMOUNT_MAX;
use crate::group::RecordGroup;
use crate::id::{EntryId, OwnerId};
use crate::ledger::CreditLedger;
use crate::outcome::{AppliedCommand, CommandOutcome};
use crate::record::{JournalRecord, TransferCode};
use crate::rejection::CommandRejection;

impl CreditLedger {
    pub(crate) fn set_allowance(
        &mut self,
        entry: EntryId,
        owner: OwnerId,
        kind: AllowanceKind,
        amount: Nano,
        now: Timestamp,
    ) -> Result<AppliedCommand, CommandRejection> {
        if amount.is_negative() || AMOUNT_MAX < amount {
            return Err(CommandRejection::InvalidAmount);
        }
        self.refuse_duplicate(entry)?;
        let mut group = RecordGroup::new(entry, now);
        group.push(JournalRecord::AllowanceSet { entry, owner, kind, amount, at: now });
        let current = kind.lot_key(owner, kind.period(now));
        if let Some(lot) = self.lot(&current) {
            let more = amount.saturating_sub(lot.granted).max(Nano::ZERO);
            let less = lot.granted.saturating_sub(amount).max(Nano::ZERO);
            let taken = less.min(lot.available());
            let given = PaymentLeg { lot: current, amount: more };
            group.credit_lot(TransferCode::Grant, given, SystemKind::Issuance);
            let taken = PaymentLeg { lot: current, amount: taken };
            group.debit_lot(TransferCode::TakeBack, taken, SystemKind::Issuance);
        }
        let records = self.apply_records(group.into_records());
        let outcome = CommandOutcome::AllowanceSet(self.balances(owner, now));
        Ok(self.finish_entry(entry, records, outcome))
    }
}
