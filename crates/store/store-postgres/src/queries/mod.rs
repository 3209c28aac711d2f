//! The store's queries on Postgres, by subject.

mod access;
mod batches;
mod characters;
mod claims;
mod conversations;
mod evidence;
mod jobs;
mod journal;
pub(crate) mod ledger;
mod listing;
mod media;
mod request_search;
mod responses;
mod rpc;
mod session_usage;
mod statement;
mod usage;
mod usage_recount;

pub(crate) use access::read_setting;
