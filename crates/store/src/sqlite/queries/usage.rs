//! Queries about usage, row by row and summed.

use credits::OwnerId;

use crate::sqlite::{Sqlite, request_search, usage};
use crate::usage::{
    Days, FoundRequests, KeyUsage, ModelUsage, PageRequest, RequestSearch, UsageCursor,
    UsageFilter, UsagePage, UsageRow,
};
use crate::{StoreFuture, UsageStore};

impl UsageStore for Sqlite {
    fn usage_page(&self, filter: UsageFilter, page: PageRequest) -> StoreFuture<'_, UsagePage> {
        self.ask_posted(move |connection| usage::page(connection, &filter, page))
    }

    fn usage_after(
        &self,
        filter: UsageFilter,
        after: Option<UsageCursor>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<(UsageCursor, UsageRow)>> {
        self.ask_posted(move |connection| usage::rows_after(connection, &filter, after, limit))
    }

    fn search_requests(&self, search: RequestSearch) -> StoreFuture<'_, FoundRequests> {
        self.ask_posted(move |connection| request_search::search(connection, &search))
    }

    fn usage_by_model(&self, owner: OwnerId, days: Days) -> StoreFuture<'_, Vec<ModelUsage>> {
        self.ask_posted(move |connection| usage::by_model(connection, owner, days))
    }

    fn usage_by_key(&self, owner: OwnerId, days: Days) -> StoreFuture<'_, Vec<KeyUsage>> {
        self.ask_posted(move |connection| usage::by_key(connection, owner, days))
    }
}
