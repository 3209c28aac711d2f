//! Takes back a payment: it was refunded, or withdrawn in a dispute.

use moment::Timestamp;
use money::Nano;

use crate::account::{LotKey, PaymentNetwork, SystemKind};
use crate::charge::PaymentLeg;
use crate::command::{AMOUNT_MAX, BeyondPaid};
use crate::credit::LOT_BALANCE_MAX;
use crate::group::RecordGroup;
use crate::id::{EntryId, OwnerId};
use crate::ledger::CreditLedger;
use crate::outcome::{AppliedCommand, CommandOutcome, ReversalReceipt};
use crate::record::TransferCode;
use crate::rejection::CommandRejection;

/// The terms of a reversal, as in [`CreditCommand::Reverse`](crate::CreditCommand::Reverse).
#[derive(Debug, Clone, Copy)]
pub(crate) struct PaymentReversal<'a> {
    pub(crate) owner: OwnerId,
    pub(crate) network: &'a PaymentNetwork,
    pub(crate) amount: Nano,
    pub(crate) given: Nano,
    pub(crate) beyond: BeyondPaid,
}

impl CreditLedger {
    pub(crate) fn reverse_payment(
        &mut self,
        entry: EntryId,
        reversal: &PaymentReversal<'_>,
        now: Timestamp,
    ) -> Result<AppliedCommand, CommandRejection> {
        let PaymentReversal { owner, network, amount, given, beyond } = *reversal;
        let is_sound = amount.is_positive() && amount <= AMOUNT_MAX;
        if !is_sound {
            return Err(CommandRejection::InvalidAmount);
        }
        self.refuse_duplicate(entry)?;
        let funds = self.paid_funds(owner, given);
        #[cfg(test)]
        let funds = self.mutant.alter_paid_funds(self.lot(&LotKey::main_usd(owner)), funds);
        let taken = amount.min(funds.left);
        let owed = amount.saturating_sub(taken);
        if owed.is_positive() && beyond == BeyondPaid::Refuse {
            return Err(CommandRejection::BeyondPaid { left: funds.left, wanted: amount });
        }
        if LOT_BALANCE_MAX < funds.debt.saturating_add(owed) {
            return Err(CommandRejection::BalanceTooLarge);
        }
        let debt_lot = LotKey::debt(owner);
        let mut group = RecordGroup::new(entry, now);
        if owed.is_positive() && self.lot(&debt_lot).is_none() {
            // Not counted against the owner's maximum of lots: the money has left.
            group.open_lot(debt_lot, None);
        }
        let cash = SystemKind::Cash(network.clone());
        let free = PaymentLeg { lot: LotKey::main_usd(owner), amount: taken };
        group.debit_lot(TransferCode::Reversal, free, cash.clone());
        #[cfg(test)]
        let owed = self.mutant.alter_owed(owed);
        let spent = PaymentLeg { lot: debt_lot, amount: owed };
        group.debit_lot(TransferCode::Shortfall, spent, cash);
        let records = self.apply_records(group.into_records());
        let receipt = ReversalReceipt { taken, owed, remaining: self.balances(owner, now) };
        Ok(self.finish_entry(entry, records, CommandOutcome::Reversed(receipt)))
    }
}
