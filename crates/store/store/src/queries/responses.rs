//! Queries about stored responses and conversations.

use ledger_core::OwnerId;
use moment::Timestamp;

use crate::StoreFuture;
use crate::conversation::{ConversationId, ConversationItem, ConversationRecord, ItemQuery};
use crate::model_response::{
    ResponseFilter, ResponseId, ResponseRecord, SealedEvents, SealedResponse, StoredTotals,
};

pub trait ResponseStore: Send + Sync {
    /// A response of an owner, unless it was deleted. An expired one is found until it is dropped.
    fn find_response(
        &self,
        owner: OwnerId,
        id: ResponseId,
    ) -> StoreFuture<'_, Option<SealedResponse>>;

    /// The state of a response, also of a deleted one.
    fn response_record(&self, id: ResponseId) -> StoreFuture<'_, Option<ResponseRecord>>;

    /// A response and those before it, newest first, up to one that is not there or was deleted: at
    /// most `rows_max`.
    fn response_chain(
        &self,
        owner: OwnerId,
        id: ResponseId,
        rows_max: usize,
    ) -> StoreFuture<'_, Vec<SealedResponse>>;

    fn list_responses(&self, filter: ResponseFilter) -> StoreFuture<'_, Vec<ResponseRecord>>;

    /// Background responses without a worker: the oldest ones of each owner, at most `each_max`
    /// of them, those of other owners first.
    fn due_responses(
        &self,
        now: Timestamp,
        each_max: usize,
        limit: usize,
    ) -> StoreFuture<'_, Vec<ResponseRecord>>;

    /// The number of an owner's background responses that have not ended.
    fn open_responses(&self, owner: OwnerId) -> StoreFuture<'_, u64>;

    /// The events with numbers above `after`, in order; the first of them may begin at or below it.
    fn response_events(
        &self,
        id: ResponseId,
        after: Option<u64>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<SealedEvents>>;

    fn stored_totals(&self, owner: OwnerId) -> StoreFuture<'_, StoredTotals>;

    fn find_conversation(
        &self,
        owner: OwnerId,
        id: ConversationId,
    ) -> StoreFuture<'_, Option<ConversationRecord>>;

    fn conversation_items(&self, query: ItemQuery) -> StoreFuture<'_, Vec<ConversationItem>>;

    fn conversation_item<'a>(
        &'a self,
        conversation: ConversationId,
        item: &'a str,
    ) -> StoreFuture<'a, Option<ConversationItem>>;
}
