//! The results of commands.

use money::{BalanceCurrency, CurrencyFunds, Nano};

use crate::charge::{PaymentLeg, sum_in_currency};
use crate::id::{EntryId, HoldId};
use crate::record::JournalRecord;

/// A command that was carried out: the records for the journal, and the result for the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedCommand {
    /// One all-or-nothing group; empty if nothing durable changed.
    pub records: Vec<JournalRecord>,
    pub outcome: CommandOutcome,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandOutcome {
    /// A top-up, a grant or a restoration was credited; the available balances.
    Credited(CurrencyBalances),
    /// Credit was taken back; the available balances.
    Debited(CurrencyBalances),
    /// An allowance was set; the available balances.
    AllowanceSet(CurrencyBalances),
    Held(HeldAmounts),
    Settled(ChargeReceipt),
    Released,
    Refunded(RefundReceipt),
    Swept(SweepReport),
    Reversed(ReversalReceipt),
    Collected(DebtCollection),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldAmounts {
    pub hold: HoldId,
    /// The amounts held, by kind of currency.
    pub means: CurrencyFunds,
}

/// The result of settling a hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChargeReceipt {
    pub charge: EntryId,
    /// The amounts taken from each lot, in order.
    pub legs: Vec<PaymentLeg>,
    /// The part of the cost that could not be charged, in USD.
    pub written_off: Nano,
    /// The available balances after the charge.
    pub remaining: CurrencyBalances,
}

/// The result of a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundReceipt {
    pub entry: EntryId,
    /// The legs that can be spent again.
    pub returned: Vec<PaymentLeg>,
    /// The legs whose lot has expired since: they were moved to the expired account at once.
    pub lapsed: Vec<PaymentLeg>,
    pub remaining: CurrencyBalances,
}

/// The result of taking back a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReversalReceipt {
    /// The amount taken from paid credit.
    pub taken: Nano,
    /// The amount that became a debt.
    pub owed: Nano,
    /// The available balances after it.
    pub remaining: CurrencyBalances,
}

/// The result of collecting a debt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DebtCollection {
    pub collected: Nano,
    /// The debt that is left.
    pub debt: Nano,
}

/// The result of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SweepReport {
    pub lots: usize,
    pub amounts: CurrencyBalances,
    /// Set when more lots have expired than one sweep takes: sweep again.
    pub more: bool,
}

/// An amount in each currency.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CurrencyBalances {
    pub usd: Nano,
    pub diem: Nano,
    pub bundled: Nano,
    pub vcu: Nano,
}

impl CurrencyBalances {
    pub fn get(&self, currency: BalanceCurrency) -> Nano {
        match currency {
            BalanceCurrency::Usd => self.usd,
            BalanceCurrency::Diem => self.diem,
            BalanceCurrency::Bundled => self.bundled,
            BalanceCurrency::Vcu => self.vcu,
        }
    }

    pub fn total(&self) -> Nano {
        self.usd.saturating_add(self.diem).saturating_add(self.bundled).saturating_add(self.vcu)
    }

    pub(crate) fn add(&mut self, currency: BalanceCurrency, amount: Nano) {
        let sum = match currency {
            BalanceCurrency::Usd => &mut self.usd,
            BalanceCurrency::Diem => &mut self.diem,
            BalanceCurrency::Bundled => &mut self.bundled,
            BalanceCurrency::Vcu => &mut self.vcu,
        };
        *sum = sum.saturating_add(amount);
    }
}

impl ChargeReceipt {
    /// The amount paid in `currency`.
    pub fn paid(&self, currency: BalanceCurrency) -> Nano {
        sum_in_currency(&self.legs, currency)
    }
}
