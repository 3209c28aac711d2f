//! The store's queries on SQLite, by subject.

mod access;
mod batches;
mod characters;
mod claims;
mod evidence;
mod jobs;
mod ledger;
mod media;
mod responses;
mod rpc;
mod usage;
