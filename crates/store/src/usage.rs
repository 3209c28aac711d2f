//! What was charged for: the lines that an owner reads on a bill, and the questions about them.

use credits::{EntryId, KeyId, OwnerId};
use moment::Timestamp;
use money::{Currency, Nano, Per, Price};

/// The most rows that one answer carries.
pub const USAGE_ROWS_MAX: usize = 1000;

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

/// A place in the history. Rows are added in the order of places, so whoever reads on from one
/// misses nothing and sees nothing twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct UsagePlace {
    pub at: Timestamp,
    pub seq: i64,
}

/// The days of a question: the first one included, the last one included.
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
