//! Money in: top-ups, restorations and grants.

use moment::Timestamp;
use money::{BalanceCurrency, Nano};

use crate::account::{LotKey, LotTag, PaymentNetwork, SystemKind};
use crate::charge::PaymentLeg;
use crate::command::AMOUNT_MAX;
use crate::debt::IncomingSplit;
use crate::group::RecordGroup;
use crate::id::{EntryId, OwnerId};
use crate::ledger::CreditLedger;
use crate::outcome::{AppliedCommand, CommandOutcome};
use crate::owner_lots::LOTS_PER_OWNER_MAX;
use crate::record::TransferCode;
use crate::rejection::CommandRejection;

/// The largest balance of one lot: a billion units, far from where sums overflow.
pub const LOT_BALANCE_MAX: Nano = Nano::from_units(1_000_000_000);

impl CreditLedger {
    pub(crate) fn top_up(
        &mut self,
        entry: EntryId,
        owner: OwnerId,
        network: &PaymentNetwork,
        amount: Nano,
        now: Timestamp,
    ) -> Result<AppliedCommand, CommandRejection> {
        let cash = SystemKind::Cash(network.clone());
        self.receive_cash(
            entry,
            cash,
            IncomingCash { owner, amount, code: TransferCode::TopUp },
            now,
        )
    }

    pub(crate) fn restore_payment(
        &mut self,
        entry: EntryId,
        owner: OwnerId,
        network: &PaymentNetwork,
        amount: Nano,
        now: Timestamp,
    ) -> Result<AppliedCommand, CommandRejection> {
        let cash = SystemKind::Cash(network.clone());
        let incoming = IncomingCash { owner, amount, code: TransferCode::Restoration };
        self.receive_cash(entry, cash, incoming, now)
    }

    pub(crate) fn grant_credit(
        &mut self,
        entry: EntryId,
        leg: PaymentLeg,
        expires_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<AppliedCommand, CommandRejection> {
        let has_passed = expires_at.is_some_and(|expires_at| expires_at <= now);
        if has_passed {
            return Err(CommandRejection::ExpiryPassed);
        }
        self.refuse_credit(entry, leg.amount)?;
        let mut group = RecordGroup::new(entry, now);
        self.prepare_lot(&mut group, leg, expires_at)?;
        group.credit_lot(TransferCode::Grant, leg, SystemKind::Issuance);
        Ok(self.finish_credit(group, leg.lot.owner, now))
    }

    /// Repays the debt, then credits the rest to the main lot.
    fn receive_cash(
        &mut self,
        entry: EntryId,
        cash: SystemKind,
        incoming: IncomingCash,
        now: Timestamp,
    ) -> Result<AppliedCommand, CommandRejection> {
        let IncomingCash { owner, amount, code } = incoming;
        self.refuse_credit(entry, amount)?;
        let split = IncomingSplit::new(amount, self.debt(owner));
        #[cfg(test)]
        let split = self.mutant.alter_split(split);
        let mut group = RecordGroup::new(entry, now);
        let repayment = PaymentLeg { lot: LotKey::debt(owner), amount: split.repays };
        group.credit_lot(TransferCode::Repayment, repayment, cash.clone());
        let leg = PaymentLeg { lot: LotKey::main_usd(owner), amount: split.credits };
        if leg.amount.is_positive() {
            self.prepare_lot(&mut group, leg, None)?;
        }
        group.credit_lot(code, leg, cash);
        Ok(self.finish_credit(group, owner, now))
    }

    fn refuse_credit(&self, entry: EntryId, amount: Nano) -> Result<(), CommandRejection> {
        let is_sound = amount.is_positive() && amount <= AMOUNT_MAX;
        if is_sound { self.refuse_duplicate(entry) } else { Err(CommandRejection::InvalidAmount) }
    }

    /// Adds the record that opens the lot, if it is not open. Refuses a credit that the lot or the
    /// owner has no room for.
    fn prepare_lot(
        &self,
        group: &mut RecordGroup,
        leg: PaymentLeg,
        expires_at: Option<Timestamp>,
    ) -> Result<(), CommandRejection> {
        match self.lot(&leg.lot) {
            Some(lot) if LOT_BALANCE_MAX < lot.balance().saturating_add(leg.amount) => {
                return Err(CommandRejection::BalanceTooLarge);
            }
            Some(_) => {}
            None => {
                let open = self.purses.get(&leg.lot.owner).map_or(0, |purse| purse.lots().len());
                if LOTS_PER_OWNER_MAX <= open {
                    return Err(CommandRejection::TooManyLots);
                }
                group.open_lot(leg.lot, expires_at);
            }
        }
        Ok(())
    }

    fn finish_credit(
        &mut self,
        group: RecordGroup,
        owner: OwnerId,
        now: Timestamp,
    ) -> AppliedCommand {
        let entry = group.entry();
        let records = self.apply_records(group.into_records());
        let outcome = CommandOutcome::Credited(self.balances(owner, now));
        self.finish_entry(entry, records, outcome)
    }
}

/// Money that comes in; `code` is that of the part that is credited.
#[derive(Debug, Clone, Copy)]
struct IncomingCash {
    owner: OwnerId,
    amount: Nano,
    code: TransferCode,
}

/// The lot that a grant goes to: a new one if it expires, otherwise the owner's main lot.
pub(crate) fn choose_grant_lot(
    entry: EntryId,
    owner: OwnerId,
    currency: BalanceCurrency,
    expires_at: Option<Timestamp>,
) -> LotKey {
    let tag = match expires_at {
        Some(_) => LotTag::Grant(entry),
        None => LotTag::Main,
    };
    LotKey { owner, currency, tag }
}
