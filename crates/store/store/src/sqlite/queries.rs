//! The store's queries on SQLite, by subject.

mod evidence;
mod ledger;
mod usage;
