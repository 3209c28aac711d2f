//! Usage: the lines of charges that an owner sees, and the queries about them.

use ledger_core::{EntryId, KeyId, OwnerId};
use moment::Timestamp;
use money::{BalanceCurrency, Nano, Price, PriceUnits};

/// The maximum number of rows per query.
pub const USAGE_ROWS_MAX: usize = 1000;

/// The maximum number of rows that one search reads, the newest ones of its time span.
pub const SEARCHED_ROWS_MAX: usize = 50_000;

/// The maximum number of requests per search result.
pub const FOUND_REQUESTS_MAX: usize = 200;

/// The maximum number of sessions per query, the most expensive ones.
pub const SESSIONS_MAX: usize = 100;

/// The maximum number of daily sums of sessions that one query reads, the newest ones.
pub const SESSION_SUMS_MAX: usize = 50_000;

/// The maximum number of days of one query about sessions, the newest ones.
const SESSION_DAYS_MAX: i64 = 366;

/// The SKU of refund rows.
pub const REFUND_SKU: &str = "refund";

/// The setting with the day before which usage rows are pruned, as eight bytes.
pub const PRUNED_BEFORE_DAY: &str = "usage_pruned_before_day";

/// One line of a charge, paid in one currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageRow {
    /// The charge in the journal that this line is part of.
    pub charge: EntryId,
    pub owner: OwnerId,
    /// None for wallets, which pay without a key.
    pub key: Option<KeyId>,
    pub at: Timestamp,
    pub sku: String,
    pub model: String,
    pub currency: BalanceCurrency,
    pub units: u64,
    /// The price of a single unit.
    pub price: Price,
    /// The number of units that the price is shown for.
    pub per: PriceUnits,
    /// The amount charged; negative for a refund.
    pub amount: Nano,
    pub details: UsageDetails,
    pub notes: String,
}

/// Details of the request behind a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsageDetails {
    pub request_id: String,
    pub prompt_tokens: Option<u64>,
    pub completion_tokens: Option<u64>,
    pub execution_ms: Option<u64>,
    /// The prompt tokens that were read from a cache; None for none.
    pub cached_tokens: Option<u64>,
    /// The digest of the caller's key of its session.
    pub session: Option<u64>,
}

/// Filters of a usage query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageFilter {
    pub owner: OwnerId,
    pub currency: Option<BalanceCurrency>,
    /// Inclusive.
    pub from: Timestamp,
    /// Exclusive.
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
    /// The number of rows that match the filter, on all pages.
    pub total: u64,
}

/// A position in the history. Rows are added in this order, so reading on from a cursor skips no
/// row and repeats none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct UsageCursor {
    pub at: Timestamp,
    pub seq: i64,
}

/// Filters of a search for requests of one owner, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestSearch {
    pub owner: OwnerId,
    pub key: Option<KeyId>,
    pub model: Option<String>,
    pub request_id: Option<String>,
    pub outcome: Option<RequestOutcome>,
    /// Inclusive.
    pub from: Timestamp,
    /// Exclusive.
    pub until: Timestamp,
    /// Number of newest requests to skip.
    pub skip: u64,
    pub size: usize,
}

/// The direction in which a request moved money.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestOutcome {
    Charged,
    Refunded,
}

/// The result of a [`RequestSearch`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundRequests {
    /// The rows of each request on this page, in the order in which they were added.
    pub requests: Vec<Vec<UsageRow>>,
    /// The number of requests on all pages, by UTC day, oldest first.
    pub by_day: Vec<DayRequests>,
    /// True if there are older rows that were not read, see [`SEARCHED_ROWS_MAX`].
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

/// The days of a query, both inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayRange {
    pub first: i64,
    pub last: i64,
}

/// The usage of one model on one day, by SKU and currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelUsage {
    pub day: i64,
    pub model: String,
    pub sku: String,
    pub currency: BalanceCurrency,
    pub units: u64,
    pub amount: Nano,
}

/// The spending of one key on one day, by currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyUsage {
    pub day: i64,
    pub key: Option<KeyId>,
    /// The key's description, even if it has been revoked since.
    pub description: Option<String>,
    pub currency: BalanceCurrency,
    pub units: u64,
    pub amount: Nano,
}

/// The usage of one session. Refunds reduce the amounts and count nowhere else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionUsage {
    pub session: u64,
    pub requests: u64,
    pub units: u64,
    /// All currencies but DIEM.
    pub usd: Nano,
    pub diem: Nano,
    pub input_tokens: u64,
    pub cached_tokens: u64,
    pub output_tokens: u64,
    /// The time of the first charge; None if there are only refunds in the range.
    pub first: Option<Timestamp>,
    pub last: Option<Timestamp>,
}

impl DayRange {
    /// The days of a query about sessions, without those whose sums are pruned.
    pub fn for_sessions(self, pruned_before: Option<i64>) -> DayRange {
        let newest = self.last.saturating_sub(SESSION_DAYS_MAX - 1);
        let first = self.first.max(newest).max(pruned_before.unwrap_or(i64::MIN));
        DayRange { first, ..self }
    }
}

impl UsageFilter {
    /// Excludes the days before `before_day`, whose rows are pruned.
    pub fn without_pruned(&self, before_day: Option<i64>) -> UsageFilter {
        let Some(day) = before_day else { return *self };
        UsageFilter { from: self.from.max(Timestamp::start_of_day(day)), ..*self }
    }

    /// The first and the last day that the filter includes.
    pub fn days(&self) -> DayRange {
        DayRange {
            first: self.from.unix_day(),
            last: Timestamp::from_ms(self.until.ms() - 1).unix_day(),
        }
    }

    /// The part of a day that the filter includes; `None` if it includes the whole day.
    pub fn part_of_day(&self, day: i64) -> Option<UsageFilter> {
        let start = Timestamp::start_of_day(day);
        let end = Timestamp::start_of_day(day + 1);
        let is_cut = start < self.from || self.until < end;
        let (from, until) = (self.from.max(start), self.until.min(end));
        is_cut.then_some(UsageFilter { from, until, ..*self })
    }

    /// Excludes the days before `day` in the page's order, which the page skips.
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
    /// The day in which the page begins, and the number of rows of that day to skip, given the
    /// number of rows of each day. None if it begins after the last row.
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

/// Decodes the setting [`PRUNED_BEFORE_DAY`].
pub fn pruned_before_day(setting: Option<Vec<u8>>) -> Option<i64> {
    setting.and_then(|bytes| bytes.try_into().ok()).map(i64::from_le_bytes)
}
