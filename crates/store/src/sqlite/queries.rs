//! The store's queries on SQLite, by subject.

mod access;
mod books;
mod characters;
mod claims;
mod evidence;
mod jobs;
mod media;
mod rpc;
mod usage;
