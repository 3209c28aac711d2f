//! Queries about stored responses and conversations.

use ledger_core::OwnerId;
use moment::Timestamp;

use crate::conversation::{ConversationId, ConversationItem, ConversationRecord, ItemQuery};
use crate::model_response::{
    ResponseFilter, ResponseId, ResponseRecord, SealedEvents, SealedResponse, StoredTotals,
};
use crate::sqlite::{SqliteStore, conversations, responses};
use crate::{ResponseStore, StoreFuture};

impl ResponseStore for SqliteStore {
    fn find_response(
        &self,
        owner: OwnerId,
        id: ResponseId,
    ) -> StoreFuture<'_, Option<SealedResponse>> {
        self.query(move |connection| responses::find_response(connection, owner, id))
    }

    fn response_record(&self, id: ResponseId) -> StoreFuture<'_, Option<ResponseRecord>> {
        self.query(move |connection| responses::read_record(connection, id))
    }

    fn response_chain(
        &self,
        owner: OwnerId,
        id: ResponseId,
        rows_max: usize,
    ) -> StoreFuture<'_, Vec<SealedResponse>> {
        self.query(move |connection| responses::read_chain(connection, owner, id, rows_max))
    }

    fn list_responses(&self, filter: ResponseFilter) -> StoreFuture<'_, Vec<ResponseRecord>> {
        self.query(move |connection| responses::list_responses(connection, filter))
    }

    fn due_responses(
        &self,
        now: Timestamp,
        each_max: usize,
        limit: usize,
    ) -> StoreFuture<'_, Vec<ResponseRecord>> {
        self.query(move |connection| responses::find_due(connection, now, each_max, limit))
    }

    fn open_responses(&self, owner: OwnerId) -> StoreFuture<'_, u64> {
        self.query(move |connection| responses::count_open(connection, owner))
    }

    fn response_events(
        &self,
        id: ResponseId,
        after: Option<u64>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<SealedEvents>> {
        self.query(move |connection| responses::read_events(connection, id, after, limit))
    }

    fn stored_totals(&self, owner: OwnerId) -> StoreFuture<'_, StoredTotals> {
        self.query(move |connection| responses::sum_stored(connection, owner))
    }

    fn find_conversation(
        &self,
        owner: OwnerId,
        id: ConversationId,
    ) -> StoreFuture<'_, Option<ConversationRecord>> {
        self.query(move |connection| conversations::find_conversation(connection, owner, id))
    }

    fn conversation_items(&self, query: ItemQuery) -> StoreFuture<'_, Vec<ConversationItem>> {
        self.query(move |connection| conversations::list_items(connection, query))
    }

    fn conversation_item<'a>(
        &'a self,
        conversation: ConversationId,
        item: &'a str,
    ) -> StoreFuture<'a, Option<ConversationItem>> {
        let item = item.to_owned();
        self.query(move |connection| conversations::find_item(connection, conversation, &item))
    }
}
