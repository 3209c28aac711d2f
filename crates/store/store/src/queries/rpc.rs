//! Queries for the JSON-RPC proxy: stored responses, sent transactions, spent credits.

use moment::Timestamp;

use crate::StoreFuture;
use crate::idempotency::{StoredResponseKey, StoredResponseLookup};
use crate::rpc::{SentTransaction, SpentCredits};

pub trait RpcStore: Send + Sync {
    fn find_stored_response(&self, key: StoredResponseKey)
    -> StoreFuture<'_, StoredResponseLookup>;

    /// The submissions of a transaction, oldest first; the hash starts with `0x`.
    fn sent_transactions<'a>(&'a self, hash: &'a str) -> StoreFuture<'a, Vec<SentTransaction>>;

    /// The credits of the JSON-RPC proxy by owner and quarter of an hour, for quarters that began
    /// at `since` or later; kept for two days.
    fn spent_credits(&self, since: Timestamp) -> StoreFuture<'_, Vec<SpentCredits>>;
}
