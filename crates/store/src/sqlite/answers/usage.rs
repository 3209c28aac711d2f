//! Answers to questions about what was used, row by row and summed.

use credits::OwnerId;

use crate::sqlite::{Sqlite, usage};
use crate::usage::{
    Days, KeyUsage, ModelUsage, PageRequest, UsageFilter, UsagePage, UsagePlace, UsageRow,
};
use crate::{Answer, UsageStore};

impl UsageStore for Sqlite {
    fn usage_page(&self, filter: UsageFilter, page: PageRequest) -> Answer<'_, UsagePage> {
        self.ask_posted(move |connection| usage::page(connection, &filter, page))
    }

    fn usage_after(
        &self,
        filter: UsageFilter,
        after: Option<UsagePlace>,
        limit: usize,
    ) -> Answer<'_, Vec<(UsagePlace, UsageRow)>> {
        self.ask_posted(move |connection| usage::rows_after(connection, &filter, after, limit))
    }

    fn usage_by_model(&self, owner: OwnerId, days: Days) -> Answer<'_, Vec<ModelUsage>> {
        self.ask_posted(move |connection| usage::by_model(connection, owner, days))
    }

    fn usage_by_key(&self, owner: OwnerId, days: Days) -> Answer<'_, Vec<KeyUsage>> {
        self.ask_posted(move |connection| usage::by_key(connection, owner, days))
    }
}
