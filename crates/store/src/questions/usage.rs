//! Questions about what was used, row by row and summed.

use credits::OwnerId;

use crate::Answer;
use crate::usage::{
    Days, KeyUsage, ModelUsage, PageRequest, UsageFilter, UsagePage, UsagePlace, UsageRow,
};

pub trait UsageStore: Send + Sync {
    fn usage_page(&self, filter: UsageFilter, page: PageRequest) -> Answer<'_, UsagePage>;

    /// The rows after a place, oldest first, each with its own place.
    fn usage_after(
        &self,
        filter: UsageFilter,
        after: Option<UsagePlace>,
        limit: usize,
    ) -> Answer<'_, Vec<(UsagePlace, UsageRow)>>;

    fn usage_by_model(&self, owner: OwnerId, days: Days) -> Answer<'_, Vec<ModelUsage>>;

    fn usage_by_key(&self, owner: OwnerId, days: Days) -> Answer<'_, Vec<KeyUsage>>;
}
