//! The store's queries on Postgres, by subject.

mod access;
pub(crate) mod books;
mod characters;
mod claims;
mod evidence;
mod jobs;
mod journal;
mod listing;
mod media;
mod recount;
mod request_search;
mod rpc;
mod statement;
mod usage;

pub(crate) use access::setting;
