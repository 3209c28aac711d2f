//! The stored sums that verification compares with the journal.

use credits::{AllowanceKind, EntryId, KeyId, KeyTerms, OwnerId};
use moment::Timestamp;
use money::{Currency, Nano, Price};

use crate::claim::ClaimId;
use crate::journal::Books;
use crate::usage::UsageRow;
use crate::usage_digest::DigestCheck;

/// The most rows that one answer about marks of usage carries.
pub const USAGE_MARKS_MAX: usize = 10_000;

/// Faults that are told; a damaged database has more than anyone reads.
pub const FAULTS_MAX: usize = 100;

/// Everything that must agree with the journal, read at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    pub books: Books,
    /// The last row of usage; zero if there is none.
    pub usage_last_seq: i64,
    /// Details of usage from before this day may be gone.
    pub usage_from_day: i64,
    /// What the daily sums of usage come to, by owner and by day.
    pub usage_sums: Vec<UsageSum>,
    /// What allowances were set to, in the order of time.
    pub allowances: Vec<AllowanceSet>,
    /// The keys that have a limit.
    pub limited_keys: Vec<LimitedKey>,
    /// Payments that a chain settled and we credited.
    pub credited: Vec<CreditedClaim>,
    /// Those of them that their chain does not show any more.
    pub missing: Vec<MissingClaim>,
    /// Money that came in for payments that had failed, and is not credited.
    pub received: Vec<ReceivedClaim>,
    /// Where sums of usage are not what its rows come to, in words.
    pub miscounts: Vec<String>,
    /// What the database says is wrong with itself, in words.
    pub faults: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageSum {
    pub part: UsagePart,
    pub currency: Currency,
    pub amount: Nano,
}

/// Which rows a sum is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UsagePart {
    Owner(OwnerId),
    Day(i64),
}

/// As much of a row of usage as must agree with the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageMark {
    pub seq: i64,
    pub charge: EntryId,
    pub owner: OwnerId,
    pub currency: Currency,
    /// Negative where it was given back.
    pub amount: Nano,
    pub at: Timestamp,
    pub units: u64,
    /// Of a single unit.
    pub price: Price,
    /// Covers every field of the row, those that are not here included.
    pub digest: DigestCheck,
}

impl UsageMark {
    /// `digest` is the stored one.
    pub fn of_row(seq: i64, row: &UsageRow, digest: Option<i64>) -> UsageMark {
        UsageMark {
            seq,
            charge: row.charge,
            owner: row.owner,
            currency: row.currency,
            amount: row.amount,
            at: row.at,
            units: row.units,
            price: row.price,
            digest: DigestCheck::compare(row, digest),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AllowanceSet {
    pub owner: OwnerId,
    pub kind: AllowanceKind,
    pub amount: Nano,
}

/// A key, its limits, and since when it has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitedKey {
    pub terms: KeyTerms,
    pub created: Timestamp,
    pub since: Timestamp,
}

impl LimitedKey {
    pub fn key(&self) -> KeyId {
        self.terms.key
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreditedClaim {
    pub network: String,
    pub entry: EntryId,
    pub amount: Nano,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingClaim {
    pub network: String,
    pub transaction: String,
    pub entry: EntryId,
    pub amount: Nano,
    pub since: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedClaim {
    pub claim: ClaimId,
    pub network: String,
    pub transaction: String,
    pub amount: Nano,
    pub since: Timestamp,
}

/// The rows of an audit trail that has holes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditCount {
    /// How many are there.
    pub rows: i64,
    /// How many were written.
    pub written: i64,
}

impl std::fmt::Display for AuditCount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let AuditCount { rows, written } = self;
        write!(f, "the audit trail has {rows} rows, and {written} were written")
    }
}

/// Rows of usage that come to something else than their daily sum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DailyMiscount {
    /// In hexadecimal, as `key` is; an empty key stands for a wallet.
    pub owner: String,
    pub date: String,
    pub currency: String,
    pub key: String,
    pub model: String,
    pub sku: String,
    pub counted: UsageCount,
    pub summed: UsageCount,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageCount {
    pub rows: i64,
    pub units: i64,
    pub nanos: i64,
}

impl std::fmt::Display for DailyMiscount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let DailyMiscount { owner, date, currency, key, model, sku, counted, summed } = self;
        write!(
            f,
            "usage of {owner} on {date}, {currency} key {key} {model} {sku}: its rows are {} with \
             {} units and {} nano, its daily sum has {} with {} and {}",
            counted.rows, counted.units, counted.nanos, summed.rows, summed.units, summed.nanos
        )
    }
}

/// The proxy's credits of one owner in a quarter of an hour, counted and summed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcMiscount {
    pub owner: String,
    /// When the quarter began.
    pub from: String,
    pub counted: i64,
    pub summed: i64,
}

impl std::fmt::Display for RpcMiscount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let RpcMiscount { owner, from, counted, summed } = self;
        write!(
            f,
            "the proxy's credits of {owner} from {from}: rows of usage come to {counted}, the sum \
             has {summed}"
        )
    }
}
