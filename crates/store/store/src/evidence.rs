//! The stored sums that verification compares with the journal.

use ledger_core::{AllowanceKind, EntryId, KeyId, KeyTerms, OwnerId};
use moment::Timestamp;
use money::{BalanceCurrency, Nano, Price};

use crate::claim::ClaimId;
use crate::journal::LedgerBooks;
use crate::usage::UsageRow;
use crate::usage_digest::DigestCheck;

/// The maximum number of usage marks per query.
pub const USAGE_MARKS_MAX: usize = 10_000;

/// Faults that are listed; a damaged database has more than anyone reads.
pub const FAULTS_MAX: usize = 100;

/// Everything that must agree with the journal, read in one snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerificationEvidence {
    pub books: LedgerBooks,
    /// The sequence number of the last usage row; zero if there is none.
    pub usage_last_seq: i64,
    /// Usage rows from before this day may be pruned.
    pub usage_from_day: i64,
    /// The daily sums of usage, added up by owner and by day.
    pub usage_sums: Vec<UsageSum>,
    /// The amounts that allowances were set to, in order of time.
    pub allowances: Vec<AllowanceSet>,
    /// The keys that have a limit.
    pub limited_keys: Vec<LimitedKey>,
    /// Payments that were settled on a chain and credited.
    pub credited: Vec<CreditedClaim>,
    /// Credited payments that their chain no longer shows.
    pub missing: Vec<MissingClaim>,
    /// Money that arrived for failed payments, and is not credited.
    pub received: Vec<ReceivedClaim>,
    /// Descriptions of stored sums that differ from the usage rows.
    pub miscounts: Vec<String>,
    /// Descriptions of faults that the database found in itself.
    pub faults: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageSum {
    pub part: UsagePart,
    pub currency: BalanceCurrency,
    pub amount: Nano,
}

/// The rows that a sum covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UsagePart {
    Owner(OwnerId),
    Day(i64),
}

/// The parts of a usage row that must agree with the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageMark {
    pub seq: i64,
    pub charge: EntryId,
    pub owner: OwnerId,
    pub currency: BalanceCurrency,
    /// Negative for a refund.
    pub amount: Nano,
    pub at: Timestamp,
    pub units: u64,
    /// The price of a single unit.
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

/// A key, its limits, and the time they were set.
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

/// The row counts of an audit trail with missing rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditCount {
    /// The number of rows present.
    pub rows: i64,
    /// The number of rows written.
    pub written: i64,
}

impl std::fmt::Display for AuditCount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let AuditCount { rows, written } = self;
        write!(f, "the audit trail has {rows} rows, and {written} were written")
    }
}

/// Usage rows whose sum differs from the stored daily sum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DailyMiscount {
    /// In hexadecimal, like `key`; an empty key means a wallet.
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

/// The proxy's credits of one owner in a quarter of an hour: counted, and as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcMiscount {
    pub owner: String,
    /// The start of the quarter.
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

/// A session whose stored sum of a day differs from its usage rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionMiscount {
    /// In hexadecimal.
    pub owner: String,
    pub session: u64,
    pub date: String,
}

impl std::fmt::Display for SessionMiscount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let SessionMiscount { owner, session, date } = self;
        write!(
            f,
            "usage of {owner} on {date} in session {session:016x}: its sum is not that of its rows"
        )
    }
}
