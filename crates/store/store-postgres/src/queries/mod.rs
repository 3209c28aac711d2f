//! The store's queries on Postgres, by subject.

mod evidence;
mod journal;
pub(crate) mod ledger;
pub(crate) mod listing;
mod request_search;
mod session_usage;
mod statement;
mod usage;
mod usage_recount;
