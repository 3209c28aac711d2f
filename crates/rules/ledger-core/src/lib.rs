//! The ledger core: a pure, deterministic state machine over double-entry records.
//!
//! [`CreditLedger::apply`] takes a [`CreditCommand`] and the time, and returns an [`AppliedCommand`]: the [`JournalRecord`]s
//! to write to the journal and the [`CommandOutcome`] for the caller. Or it returns a [`CommandRejection`], and
//! then nothing has changed. [`CreditLedger::replay_record`] repeats a record. There is no clock, randomness,
//! float or I/O in here: the same commands at the same times give the same records.
//!
//! Map of the modules:
//! - `account`, `charge`, `limit`, `allowance`: the terms.
//! - `credit`, `debit`, `reversal`, `debt`, `set_allowance`, `hold`, `raise`, `settle`, `refund`, `sweep`: one file per command.
//! - `owner_funds`: the lots that pay, within the key's limits. `counter`: the amounts that a key
//!   has used.
//! - `replay`, `restore`: build a ledger from the journal or from a [`LedgerSnapshot`].
//! - `invariant`, `audit`: rules that always hold for a ledger, and for a journal.

mod account;
mod allowance;
mod audit;
mod charge;
mod command;
mod counter;
mod credit;
mod debit;
mod debt;
mod group;
mod hold;
mod hold_legs;
mod id;
mod invariant;
mod ledger;
mod limit;
mod outcome;
mod owner_funds;
mod owner_handover;
mod owner_lots;
mod query;
mod raise;
mod recent;
mod record;
mod refund;
mod rejection;
mod replay;
mod restore;
mod reversal;
mod set_allowance;
mod settle;
mod snapshot;
mod sweep;
mod violation;
mod violation_list;

#[cfg(test)]
mod mutant;
#[cfg(test)]
mod sim;
#[cfg(test)]
mod tests;

pub use account::{LedgerAccount, LotKey, LotTag, PaymentNetwork, SystemAccount, SystemKind};
pub use allowance::AllowanceKind;
pub use audit::JournalAudit;
pub use charge::{PaymentLeg, SettledCharge, sum_in_currency};
pub use command::{
    AMOUNT_MAX, BeyondPaid, ChargeSource, CreditCommand, HoldKind, HoldPayer, HoldRange,
};
pub use counter::KeyUsage;
pub use credit::LOT_BALANCE_MAX;
pub use debt::PaidFunds;
pub use hold::HOLDS_MAX;
pub use id::{EntryId, HoldId, KeyId, OwnerId};
pub use invariant::check_ledger;
pub use ledger::{CreditLedger, LedgerRules, SpendOrder};
pub use limit::{KeyStamp, KeyTerms, LimitClass, LimitPeriod};
pub use outcome::{
    AppliedCommand, ChargeReceipt, CommandOutcome, CurrencyBalances, DebtCollection, HeldAmounts,
    RefundReceipt, ReversalReceipt, SweepReport,
};
pub use recent::{RECENT_CHARGES_MAX, RECENT_OTHERS_MAX};
pub use record::{HeldKey, JobHold, JournalRecord, LedgerTransfer, TransferCode};
pub use rejection::CommandRejection;
pub use snapshot::{
    AccountSums, AllowanceRow, KeySpendRow, LedgerSnapshot, LotRow, RecentRow, SystemRow,
};
pub use sweep::SWEEP_LOTS_MAX;
pub use violation::{InvariantViolation, LedgerInvariant};
pub use violation_list::{VIOLATIONS_MAX, ViolationList};
