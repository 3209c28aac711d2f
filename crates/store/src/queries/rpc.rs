//! Queries for the JSON-RPC proxy: answers kept, transactions sent, credits spent.

use moment::Timestamp;

use crate::StoreFuture;
use crate::idempotency::{AnswerKey, Kept};
use crate::rpc::{SentTransaction, SpentCredits};

pub trait RpcStore: Send + Sync {
    fn kept_answer(&self, key: AnswerKey) -> StoreFuture<'_, Kept>;

    /// Who sent a transaction, oldest first; the hash as it is written, `0x` first.
    fn sent_transactions<'a>(&'a self, hash: &'a str) -> StoreFuture<'a, Vec<SentTransaction>>;

    /// The credits of the JSON-RPC proxy, by owner and quarter of an hour, of the quarters that
    /// began at a moment or later; known for two days.
    fn spent_credits(&self, since: Timestamp) -> StoreFuture<'_, Vec<SpentCredits>>;
}
