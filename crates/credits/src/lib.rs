//! The ledger core: a pure, deterministic state machine over double-entry records.
//!
//! [`Ledger::apply`] takes a [`Command`] and the time, and returns an [`Applied`]: the [`Record`]s
//! to write to the journal and the [`Outcome`] for the caller. Or it returns a [`Rejection`], and
//! then nothing has changed. [`Ledger::replay`] repeats a record. There is no clock, randomness,
//! float or I/O in here: the same commands at the same times give the same records.
//!
//! Map of the modules:
//! - `account`, `charge`, `limit`, `allowance`: the terms.
//! - `credit`, `debit`, `set_allowance`, `hold`, `settle`, `refund`, `sweep`: one file per command.
//! - `funds`: the lots that pay, within the key's limits. `counter`: what a key has used.
//! - `replay`, `restore`: build a ledger from the journal or from a [`Snapshot`].
//! - `invariant`, `audit`: rules that always hold for a ledger, and for a journal.

mod account;
mod allowance;
mod audit;
mod charge;
mod command;
mod counter;
mod credit;
mod debit;
mod funds;
mod group;
mod hold;
mod id;
mod invariant;
mod ledger;
mod limit;
mod outcome;
mod part;
mod purse;
mod query;
mod recent;
mod record;
mod refund;
mod rejection;
mod replay;
mod restore;
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

pub use account::{Account, LotKey, LotTag, Network, SystemAccount, SystemKind};
pub use allowance::AllowanceKind;
pub use audit::Audit;
pub use charge::{Charge, Leg, paid};
pub use command::{AMOUNT_MAX, ChargeSource, Command, HoldKind, Payer, Want};
pub use counter::KeyUsage;
pub use credit::LOT_BALANCE_MAX;
pub use hold::HOLDS_MAX;
pub use id::{EntryId, HoldId, KeyId, OwnerId};
pub use invariant::check;
pub use ledger::{Ledger, Rules, SpendOrder};
pub use limit::{KeyStamp, KeyTerms, LimitClass, LimitPeriod};
pub use outcome::{Applied, Balances, Held, Outcome, Receipt, Refund, Swept};
pub use recent::{RECENT_CHARGES_MAX, RECENT_OTHERS_MAX};
pub use record::{HeldKey, JobHold, Record, Transfer, TransferCode};
pub use rejection::Rejection;
pub use snapshot::{AllowanceRow, Columns, KeySpendRow, LotRow, RecentRow, Snapshot, SystemRow};
pub use sweep::SWEEP_LOTS_MAX;
pub use violation::{Invariant, Violation};
pub use violation_list::{VIOLATIONS_MAX, ViolationList};
