//! Tests of the ledger by example, one file per theme; the simulator has the rest.

mod allowances;
mod books;
mod durable;
mod holds;
mod limits;
mod lots;
mod raises;
mod refunds;
mod reversals;
mod settling;
mod shipped_bugs;
