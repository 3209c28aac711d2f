//! Queries for the JSON-RPC proxy: stored responses, sent transactions, spent credits.

use moment::Timestamp;

use crate::idempotency::{StoredResponseKey, StoredResponseLookup};
use crate::rpc::{SentTransaction, SpentCredits};
use crate::sqlite::{SqliteStore, rpc};
use crate::{RpcStore, StoreFuture};

impl RpcStore for SqliteStore {
    fn find_stored_response(
        &self,
        key: StoredResponseKey,
    ) -> StoreFuture<'_, StoredResponseLookup> {
        self.query(move |connection| rpc::find_stored_response(connection, &key))
    }

    fn sent_transactions<'a>(&'a self, hash: &'a str) -> StoreFuture<'a, Vec<SentTransaction>> {
        let hash = hash.to_owned();
        self.query(move |connection| rpc::sent_transactions(connection, &hash))
    }

    fn spent_credits(&self, since: Timestamp) -> StoreFuture<'_, Vec<SpentCredits>> {
        self.query_posted(move |connection| rpc::spent_credits(connection, since))
    }
}
