//! The invariants of the ledger, by name, and the message for a broken one.

use std::fmt;

use crate::account::{LedgerAccount, SystemKind};
use crate::record::{LedgerTransfer, TransferCode};

/// A rule that only a bug or a damaged database can break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LedgerInvariant {
    /// I1: in each currency, debits and credits are equal.
    TrialBalance,
    /// I2: the available and the pending amount of a lot are never negative, nor is a debt.
    NoOverdraft,
    /// I3: the amount pending on a lot, and reserved for a key, is the sum of its open holds.
    Pending,
    /// I4: the columns of an account are the sums of its transfers.
    Columns,
    /// I5: a hold ends at most once.
    HoldEndsOnce,
    /// I6: the charge equals the bill; the part that could not be charged is written off.
    Bill,
    /// I7: a charge is refunded at most once and at most whole.
    RefundOnce,
    /// I8: a key's spending is what the journal says, and within its limit.
    KeySpent,
    /// I9: a transfer is balanced, positive, in one currency and between the accounts of its code,
    /// and the transfers of an entry are complete.
    Transfer,
    /// I10: every acknowledged entry is stored once, in an intact database.
    Once,
    /// I11: no hold is on a lot that had expired when the hold was made, and nothing expires early.
    NoSpendAfterExpiry,
    /// I12: the money received over a network equals the settled payments on its chain.
    Cash,
    /// I13: the money that came in equals the balances of owners, plus earnings, minus write-offs,
    /// plus expired balances.
    Conservation,
    /// I14: the rows that the service starts from follow from the journal.
    Replay,
}

/// A broken invariant and its description.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{invariant} broken: {words}")]
pub struct InvariantViolation {
    pub invariant: LedgerInvariant,
    pub words: String,
}

impl LedgerInvariant {
    pub fn violation(self, words: String) -> InvariantViolation {
        InvariantViolation { invariant: self, words }
    }

    pub const fn name(self) -> &'static str {
        match self {
            LedgerInvariant::TrialBalance => "I1 trial balance",
            LedgerInvariant::NoOverdraft => "I2 no overdraft",
            LedgerInvariant::Pending => "I3 pending is open holds",
            LedgerInvariant::Columns => "I4 columns are the sum of transfers",
            LedgerInvariant::HoldEndsOnce => "I5 a hold ends once",
            LedgerInvariant::Bill => "I6 a charge is its bill",
            LedgerInvariant::RefundOnce => "I7 a charge is refunded once",
            LedgerInvariant::KeySpent => "I8 key counters",
            LedgerInvariant::Transfer => "I9 whole and balanced entries",
            LedgerInvariant::Once => "I10 everything is there once",
            LedgerInvariant::NoSpendAfterExpiry => "I11 nothing is spent after expiry",
            LedgerInvariant::Cash => "I12 cash is what was settled",
            LedgerInvariant::Conservation => "I13 nothing is made or lost",
            LedgerInvariant::Replay => "I14 the rows follow from the journal",
        }
    }
}

impl fmt::Display for LedgerInvariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl LedgerTransfer {
    /// Checks the rules that every transfer must follow by itself.
    pub(crate) fn check(&self) -> Result<(), InvariantViolation> {
        let is_one_currency = self.debit.currency() == self.credit.currency();
        let is_sound = self.amount.is_positive() && is_one_currency && self.fits_code();
        if is_sound {
            return Ok(());
        }
        let words = format!(
            "entry {} leg {}: {} of {} from {} to {}",
            self.entry.0,
            self.leg,
            self.code.name(),
            self.amount,
            self.debit,
            self.credit
        );
        Err(LedgerInvariant::Transfer.violation(words))
    }

    fn fits_code(&self) -> bool {
        let is_debt = |account: &LedgerAccount| match account {
            LedgerAccount::Lot(lot) => lot.is_debt(),
            LedgerAccount::System(_) => false,
        };
        // Only codes of debts name one, and each of them names it on one side.
        let names_debt = match self.code {
            TransferCode::Shortfall => is_debt(&self.debit) && !is_debt(&self.credit),
            TransferCode::Repayment | TransferCode::Collection => {
                is_debt(&self.credit) && !is_debt(&self.debit)
            }
            _ => !is_debt(&self.debit) && !is_debt(&self.credit),
        };
        names_debt && self.fits_accounts()
    }

    fn fits_accounts(&self) -> bool {
        match (self.code, &self.debit, &self.credit) {
            (
                TransferCode::TopUp | TransferCode::Restoration | TransferCode::Repayment,
                LedgerAccount::System(from),
                LedgerAccount::Lot(_),
            ) => matches!(from.kind, SystemKind::Cash(_)),
            (
                TransferCode::Reversal | TransferCode::Shortfall,
                LedgerAccount::Lot(_),
                LedgerAccount::System(to),
            ) => matches!(to.kind, SystemKind::Cash(_)),
            (TransferCode::Collection, LedgerAccount::Lot(from), LedgerAccount::Lot(to)) => {
                from.owner == to.owner
            }
            (
                TransferCode::Grant | TransferCode::Allowance,
                LedgerAccount::System(from),
                LedgerAccount::Lot(_),
            ) => from.kind == SystemKind::Issuance,
            (TransferCode::Refund, LedgerAccount::System(from), LedgerAccount::Lot(_)) => {
                from.kind == SystemKind::Revenue
            }
            (TransferCode::TakeBack, LedgerAccount::Lot(_), LedgerAccount::System(to)) => {
                to.kind == SystemKind::Issuance
            }
            (TransferCode::Charge, LedgerAccount::Lot(_), LedgerAccount::System(to)) => {
                to.kind == SystemKind::Revenue
            }
            (TransferCode::Expiry, LedgerAccount::Lot(_), LedgerAccount::System(to)) => {
                to.kind == SystemKind::Expired
            }
            (TransferCode::Writeoff, LedgerAccount::System(from), LedgerAccount::System(to)) => {
                matches!(
                    (&from.kind, &to.kind),
                    (SystemKind::Writeoff, SystemKind::Revenue)
                        | (SystemKind::Revenue, SystemKind::Writeoff)
                )
            }
            _ => false,
        }
    }
}
