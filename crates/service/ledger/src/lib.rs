//! The live ledger: holds in memory, settles made durable by group commit.
//!
//! [`Ledger`] is the only thing that moves money while the service runs. It keeps the pure core of
//! `ledger-core` behind a lock and hands the core's decisions to the `store`, in order. A request goes
//! hold → settle, or hold → release; nothing else ends a hold, and a [`RequestHold`] that is dropped
//! releases itself.
//!
//! Map of the modules:
//! - `hold`, `settle`, `job`, `entry`, `reversal`: the operations on money.
//! - `charge`: the cost of a piece of work, and its usage rows.
//! - `homes`: the owners that this node decides for, when several nodes share the books.
//! - `clock_watch`: checks the wall clock that all of it follows.
//! - `time_reset`: resets the books' time to the clock after they ran ahead.
//! - `uncharged_work`: work that was done and could not be charged.
//! - `state`, `commit_watch`: the state behind the lock, and the groups that are being committed.
//! - `maintenance`: periodic work: expiry, and recovery after a failed commit.
//! - `reconcile`, `verify`, `export`: checks that balances, rows and journal agree.

mod charge;
mod clock_watch;
mod commit_watch;
mod entry;
mod error;
mod export;
mod hold;
mod homes;
mod job;
mod late_charge;
mod maintenance;
mod query;
mod raise;
mod reconcile;
mod reversal;
mod settle;
mod state;
mod time_reset;
mod uncharged_work;
mod unconfirmed_credits;
mod verify;

pub use charge::{ChargeLine, WorkCharge};
pub use clock_watch::{CLOCK_JUMP_MAX, MonotonicClock};
pub use entry::{CreditOutcome, RefundOutcome};
pub use error::{HoldRefused, LedgerError};
pub use export::{CSV_HEADER, csv_line, json_line};
pub use hold::RequestHold;
pub use homes::OwnerHome;
pub use job::LedgerJob;
pub use query::LedgerStatus;
pub use reconcile::ReconcileReport;
pub use reversal::{ReversalOrder, ReversalOutcome};
pub use state::{Ledger, UNSETTLED_MAX};
pub use time_reset::TimeResetReport;
pub use uncharged_work::UNCHARGED_USD_TOTAL;
pub use verify::{VerificationReport, verify_books};

#[cfg(test)]
mod tests;
