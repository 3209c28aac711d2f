//! Queries about usage, row by row and summed.

use ledger_core::OwnerId;

use crate::StoreFuture;
use crate::usage::{
    DayRange, FoundRequests, KeyUsage, ModelUsage, PageRequest, RequestSearch, SessionUsage,
    UsageCursor, UsageFilter, UsagePage, UsageRow,
};

pub trait UsageStore: Send + Sync {
    fn usage_page(&self, filter: UsageFilter, page: PageRequest) -> StoreFuture<'_, UsagePage>;

    /// The rows after a cursor, oldest first, each with its own cursor.
    fn usage_after(
        &self,
        filter: UsageFilter,
        after: Option<UsageCursor>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<(UsageCursor, UsageRow)>>;

    /// The requests of an owner that match, each with all of its rows.
    fn search_requests(&self, search: RequestSearch) -> StoreFuture<'_, FoundRequests>;

    fn usage_by_model(&self, owner: OwnerId, days: DayRange) -> StoreFuture<'_, Vec<ModelUsage>>;

    fn usage_by_key(&self, owner: OwnerId, days: DayRange) -> StoreFuture<'_, Vec<KeyUsage>>;

    /// The most expensive sessions, at most [`crate::usage::SESSIONS_MAX`], by amount.
    fn usage_by_session(
        &self,
        owner: OwnerId,
        days: DayRange,
    ) -> StoreFuture<'_, Vec<SessionUsage>>;
}
