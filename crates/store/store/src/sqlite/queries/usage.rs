//! Queries about usage, row by row and summed.

use ledger_core::OwnerId;

use crate::sqlite::{SqliteStore, request_search, session_sums, usage};
use crate::usage::{
    DayRange, FoundRequests, KeyUsage, ModelUsage, PageRequest, RequestSearch, SessionUsage,
    UsageCursor, UsageFilter, UsagePage, UsageRow,
};
use crate::{StoreFuture, UsageStore};

impl UsageStore for SqliteStore {
    fn usage_page(&self, filter: UsageFilter, page: PageRequest) -> StoreFuture<'_, UsagePage> {
        self.query_posted(move |connection| usage::read_page(connection, &filter, page))
    }

    fn usage_after(
        &self,
        filter: UsageFilter,
        after: Option<UsageCursor>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<(UsageCursor, UsageRow)>> {
        self.query_posted(move |connection| usage::rows_after(connection, &filter, after, limit))
    }

    fn search_requests(&self, search: RequestSearch) -> StoreFuture<'_, FoundRequests> {
        self.query_posted(move |connection| request_search::search_requests(connection, &search))
    }

    fn usage_by_model(&self, owner: OwnerId, days: DayRange) -> StoreFuture<'_, Vec<ModelUsage>> {
        self.query_posted(move |connection| usage::by_model(connection, owner, days))
    }

    fn usage_by_key(&self, owner: OwnerId, days: DayRange) -> StoreFuture<'_, Vec<KeyUsage>> {
        self.query_posted(move |connection| usage::by_key(connection, owner, days))
    }

    fn usage_by_session(
        &self,
        owner: OwnerId,
        days: DayRange,
    ) -> StoreFuture<'_, Vec<SessionUsage>> {
        self.query_posted(move |connection| session_sums::by_session(connection, owner, days))
    }
}
