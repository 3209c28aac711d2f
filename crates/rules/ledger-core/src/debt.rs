//! The debt of an owner: credit that was spent before its payment was taken back.
//!
//! Payments and restorations repay it first, grants do not. A debt can stand beside paid credit if
//! that was held when the payment was taken back, and released later: then it is collected.

use moment::Timestamp;
use money::Nano;

use crate::account::LotKey;
use crate::charge::PaymentLeg;
use crate::group::RecordGroup;
use crate::id::{EntryId, OwnerId};
use crate::ledger::CreditLedger;
use crate::outcome::{AppliedCommand, CommandOutcome, DebtCollection};
use crate::owner_lots::CreditLot;
use crate::rejection::CommandRejection;

/// An owner's paid credit and debt. Neither is negative.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PaidFunds {
    /// Paid credit that is neither spent nor held.
    pub left: Nano,
    pub debt: Nano,
}

/// The parts of money that comes in.
pub(crate) struct IncomingSplit {
    pub(crate) repays: Nano,
    pub(crate) credits: Nano,
}

impl IncomingSplit {
    /// The debt first. Neither argument is negative.
    pub(crate) fn new(amount: Nano, debt: Nano) -> IncomingSplit {
        let repays = amount.min(debt);
        IncomingSplit { repays, credits: amount.saturating_sub(repays) }
    }
}

impl CreditLedger {
    pub fn debt(&self, owner: OwnerId) -> Nano {
        self.lot(&LotKey::debt(owner)).map_or(Nano::ZERO, CreditLot::debt)
    }

    /// The owners with a debt.
    pub fn debtors(&self) -> Vec<OwnerId> {
        let lots = self.purses.values().flat_map(|purse| purse.lots());
        let debts = lots.filter(|lot| lot.key.is_debt() && lot.debt().is_positive());
        debts.map(|lot| lot.key.owner).collect()
    }

    /// The paid credit and the debt of an owner; `given` is the net sum of the operator's grants to
    /// the main lot. Spending is counted against granted credit first.
    pub fn paid_funds(&self, owner: OwnerId, given: Nano) -> PaidFunds {
        let main = LotKey::main_usd(owner);
        let owed = self.owed_so_far(&main);
        let left = self.lot(&main).map_or(Nano::ZERO, |lot| lot.left_of_paid(given, owed));
        PaidFunds { left, debt: self.debt(owner) }
    }

    /// The spending from a lot that became debts, repaid or not.
    pub(crate) fn owed_so_far(&self, lot: &LotKey) -> Nano {
        let debt = LotKey::debt(lot.owner);
        let debt = self.lot(&debt).filter(|_| *lot == LotKey::main_usd(lot.owner));
        let debits = debt.map_or(0, |debt| debt.columns.debits);
        i64::try_from(debits).map_or(Nano::MAX, Nano::from_nanos)
    }

    pub(crate) fn collect_debt(
        &mut self,
        entry: EntryId,
        owner: OwnerId,
        given: Nano,
        now: Timestamp,
    ) -> Result<AppliedCommand, CommandRejection> {
        self.refuse_duplicate(entry)?;
        let PaidFunds { left, debt } = self.paid_funds(owner, given);
        let collected = left.min(debt);
        let mut group = RecordGroup::new(entry, now);
        group.collect_debt(PaymentLeg { lot: LotKey::main_usd(owner), amount: collected });
        let records = self.apply_records(group.into_records());
        let outcome = DebtCollection { collected, debt: self.debt(owner) };
        Ok(self.finish_entry(entry, records, CommandOutcome::Collected(outcome)))
    }
}

impl CreditLot {
    /// The amount owed, if this is the account of a debt.
    pub(crate) fn debt(&self) -> Nano {
        Nano::ZERO.saturating_sub(self.balance())
    }

    /// The available amount without the part of `given` that is left.
    fn left_of_paid(&self, given: Nano, owed: Nano) -> Nano {
        self.available().saturating_sub(self.left_of_given(given, owed))
    }
}
