//! The store's queries on SQLite, by subject.

mod access;
mod characters;
mod claims;
mod evidence;
mod jobs;
mod ledger;
mod media;
mod rpc;
mod usage;
