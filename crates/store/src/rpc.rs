//! What the JSON-RPC proxy leaves behind: transactions it sent, and credits it charged for.

use credits::OwnerId;
use moment::Timestamp;

/// What every SKU of the proxy starts with.
pub const RPC_SKU_PREFIX: &str = "crypto-rpc-";

/// The most rows that one answer about transactions carries.
pub const SENT_TRANSACTIONS_MAX: usize = 1000;

/// Spent credits are summed by quarter of an hour.
pub const QUARTER_MS: i64 = 15 * 60 * 1000;

/// Two days of sums are kept, for queries about one.
pub const SPENT_QUARTERS_KEPT: i64 = 2 * 96;

/// Which quarter of an hour a moment is in, counted from 1970.
pub fn quarter(at: Timestamp) -> i64 {
    at.ms().div_euclid(QUARTER_MS)
}

/// A signed transaction that was sent to a chain. The payload is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentTransaction {
    /// `0x` and 64 hexadecimal digits; absent where neither we nor the node could tell.
    pub hash: Option<String>,
    pub network: String,
    pub request_id: String,
    pub owner: OwnerId,
    pub at: Timestamp,
}

/// Credits that an owner was charged within one quarter of an hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpentCredits {
    pub owner: OwnerId,
    /// When the quarter began.
    pub at: Timestamp,
    pub credits: u64,
}
