//! The live ledger: holds in memory, settles made durable by group commit.
//!
//! [`Ledger`] is the only thing that moves money while the service runs. It keeps the pure core of
//! `credits` behind a lock and hands the core's decisions to the `store`, in order. A request goes
//! hold → settle, or hold → release; nothing else ends a hold, and a [`Hold`] that is dropped
//! releases itself.
//!
//! Map of the modules:
//! - `hold`, `settle`, `job`, `entry`: the operations on money.
//! - `charge`: the cost of a piece of work, and its usage rows.
//! - `homes`: the owners that this node decides for, when several nodes share the books.
//! - `clock_watch`: checks the wall clock that all of it follows.
//! - `mend_time`: resets the books' time to the clock after they ran ahead.
//! - `uncharged`: work that was done and could not be charged.
//! - `live`, `watch`: the state behind the lock, and the groups that are being committed.
//! - `tend`: periodic work: expiry, and recovery when the disk was full.
//! - `reconcile`, `verify`, `export`: proof that the books are right.

mod charge;
mod clock_watch;
mod entry;
mod error;
mod export;
mod hold;
mod homes;
mod job;
mod late_charge;
mod live;
mod mend_time;
mod query;
mod reconcile;
mod settle;
mod tend;
mod uncharged;
mod unconfirmed;
mod verify;
mod watch;

pub use charge::{Charge, ChargeLine};
pub use clock_watch::{CLOCK_JUMP_MAX, Stopwatch};
pub use entry::{Credited, Refunded};
pub use error::{HoldRefused, LedgerError};
pub use export::{CSV_HEADER, csv_line, json_line};
pub use hold::Hold;
pub use homes::OwnerHome;
pub use job::Job;
pub use live::{Ledger, UNSETTLED_MAX};
pub use mend_time::TimeMended;
pub use query::Status;
pub use reconcile::Reconciled;
pub use uncharged::UNCHARGED_USD_TOTAL;
pub use verify::{Report, verify};

#[cfg(test)]
mod tests;
