//! Queries that only Postgres runs.

pub(crate) mod evidence;
pub(crate) mod listing;
mod session_recount;
pub(crate) mod usage_recount;
