//! What was charged for: the lines that an owner reads on a bill, and what can be queried of them.

use credits::{EntryId, KeyId, OwnerId};
use moment::Timestamp;
use money::{Currency, Nano, Per, Price};

/// The most rows that one answer carries.
pub const USAGE_ROWS_MAX: usize = 1000;

/// The most rows that one search reads, the newest ones of the time it is about.
pub const SEARCHED_ROWS_MAX: usize = 50_000;

/// The most requests that one answer of a search carries.
pub const FOUND_REQUESTS_MAX: usize = 200;

/// The SKU of rows that give a charge back.
pub const REFUND_SKU: &str = "refund";

/// The setting that says before which day the details are gone, as eight bytes.
pub const PRUNED_BEFORE_DAY: &str = "usage_pruned_before_day";

/// One line of a charge, paid in one currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageRow {
    /// The charge in the journal that this line is part of.
    pub charge: EntryId,
    pub owner: OwnerId,
    /// Wallets pay without a key.
    pub key: Option<KeyId>,
    pub at: Timestamp,
    pub sku: String,
    pub model: String,
    pub currency: Currency,
    pub units: u64,
    /// The price of a single unit.
    pub price: Price,
    /// How many units the price is shown for.
    pub per: Per,
    /// What was charged; negative where it was given back.
    pub amount: Nano,
    pub details: UsageDetails,
    pub notes: String,
}

/// What is known about the request behind a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsageDetails {
    pub request_id: String,
    pub prompt_tokens: Option<u64>,
    pub completion_tokens: Option<u64>,
    pub execution_ms: Option<u64>,
}

/// Which rows are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageFilter {
    pub owner: OwnerId,
    pub currency: Option<Currency>,
    /// The first moment included.
    pub from: Timestamp,
    /// The first moment no longer included.
    pub until: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageOrder {
    OldestFirst,
    NewestFirst,
}

/// One page: the rows after the first `skip`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    pub order: UsageOrder,
    pub skip: u64,
    pub size: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsagePage {
    pub rows: Vec<UsageRow>,
    /// How many rows the filter lets through, on all pages together.
    pub total: u64,
}

/// A position in the history. Rows are added in this order, so reading on from a cursor skips no
/// row and repeats none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct UsageCursor {
    pub at: Timestamp,
    pub seq: i64,
}

/// The requests of one owner to find, the newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestSearch {
    pub owner: OwnerId,
    pub key: Option<KeyId>,
    pub model: Option<String>,
    pub request_id: Option<String>,
    pub outcome: Option<RequestOutcome>,
    /// The first moment included.
    pub from: Timestamp,
    /// The first moment no longer included.
    pub until: Timestamp,
    /// Requests to leave out, counted from the newest.
    pub skip: u64,
    pub size: usize,
}

/// The direction in which a request moved money.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestOutcome {
    Charged,
    Refunded,
}

/// The answer to a [`RequestSearch`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundRequests {
    /// The rows of each request on this page, in the order in which they were added.
    pub requests: Vec<Vec<UsageRow>>,
    /// The number of requests on all pages, by UTC day, oldest first.
    pub by_day: Vec<DayRequests>,
    /// Whether there are older rows that were not read: see [`SEARCHED_ROWS_MAX`].
    pub is_cut: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayRequests {
    pub day: i64,
    pub requests: u64,
}

impl FoundRequests {
    /// The number of requests on all pages.
    pub fn total(&self) -> u64 {
        self.by_day.iter().map(|day| day.requests).sum()
    }
}

/// The days of a query: the first one included, the last one included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Days {
    pub first: i64,
    pub last: i64,
}

/// What one model cost on one day, by SKU and currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelUsage {
    pub day: i64,
    pub model: String,
    pub sku: String,
    pub currency: Currency,
    pub units: u64,
    pub amount: Nano,
}

/// What one key spent on one day, by currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyUsage {
    pub day: i64,
    pub key: Option<KeyId>,
    /// The key's own description, also when it has been revoked since.
    pub description: Option<String>,
    pub currency: Currency,
    pub units: u64,
    pub amount: Nano,
}

impl UsageFilter {
    /// Without the days before one, whose details are gone.
    pub fn without_pruned(&self, before_day: Option<i64>) -> UsageFilter {
        let Some(day) = before_day else { return *self };
        UsageFilter { from: self.from.max(Timestamp::start_of_day(day)), ..*self }
    }

    /// The first and the last day of which the filter lets anything through.
    pub fn days(&self) -> Days {
        Days { first: self.from.day(), last: Timestamp::from_ms(self.until.ms() - 1).day() }
    }

    /// The part of a day that the filter lets through; `None` if that is all of it.
    pub fn cut(&self, day: i64) -> Option<UsageFilter> {
        let start = Timestamp::start_of_day(day);
        let end = Timestamp::start_of_day(day + 1);
        let is_cut = start < self.from || self.until < end;
        let (from, until) = (self.from.max(start), self.until.min(end));
        is_cut.then_some(UsageFilter { from, until, ..*self })
    }

    /// Without the days that a page skips, which come before one in its order.
    pub fn starting_at(&self, day: i64, order: UsageOrder) -> UsageFilter {
        match order {
            UsageOrder::OldestFirst => {
                UsageFilter { from: self.from.max(Timestamp::start_of_day(day)), ..*self }
            }
            UsageOrder::NewestFirst => {
                UsageFilter { until: self.until.min(Timestamp::start_of_day(day + 1)), ..*self }
            }
        }
    }
}

impl PageRequest {
    /// In which day the page begins, and how many rows of that day it skips, by how many rows each
    /// day has. None if it begins behind all of them.
    pub fn first_day(&self, mut rows_by_day: Vec<(i64, u64)>) -> Option<(i64, u64)> {
        if self.order == UsageOrder::NewestFirst {
            rows_by_day.reverse();
        }
        let mut skip = self.skip;
        for (day, rows) in rows_by_day {
            if skip < rows {
                return Some((day, skip));
            }
            skip -= rows;
        }
        None
    }
}

/// Reads the setting [`PRUNED_BEFORE_DAY`].
pub fn pruned_before_day(setting: Option<Vec<u8>>) -> Option<i64> {
    setting.and_then(|bytes| bytes.try_into().ok()).map(i64::from_le_bytes)
}
