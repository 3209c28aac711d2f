//! Queries for the JSON-RPC proxy: stored responses, sent transactions, spent credits.

use moment::Timestamp;

use crate::idempotency::{AnswerKey, Kept};
use crate::rpc::{SentTransaction, SpentCredits};
use crate::sqlite::{Sqlite, rpc};
use crate::{RpcStore, StoreFuture};

impl RpcStore for Sqlite {
    fn kept_answer(&self, key: AnswerKey) -> StoreFuture<'_, Kept> {
        self.ask(move |connection| rpc::kept_answer(connection, &key))
    }

    fn sent_transactions<'a>(&'a self, hash: &'a str) -> StoreFuture<'a, Vec<SentTransaction>> {
        let hash = hash.to_owned();
        self.ask(move |connection| rpc::sent_transactions(connection, &hash))
    }

    fn spent_credits(&self, since: Timestamp) -> StoreFuture<'_, Vec<SpentCredits>> {
        self.ask_posted(move |connection| rpc::spent_credits(connection, since))
    }
}
