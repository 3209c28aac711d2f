//! Records of the JSON-RPC proxy: transactions it sent, and credits it charged.

use ledger_core::OwnerId;
use moment::Timestamp;

/// The prefix of every SKU of the proxy.
pub const RPC_SKU_PREFIX: &str = "crypto-rpc-";

/// The maximum number of transactions per query.
pub const SENT_TRANSACTIONS_MAX: usize = 1000;

/// Spent credits are summed by quarter of an hour.
pub const QUARTER_MS: i64 = 15 * 60 * 1000;

/// Quarters of an hour whose sums are kept: two days, for queries about one.
pub const SPENT_QUARTERS_KEPT: i64 = 2 * 96;

/// The quarter of an hour that a moment is in, counted from 1970.
pub fn quarter_index(at: Timestamp) -> i64 {
    at.ms().div_euclid(QUARTER_MS)
}

/// A signed transaction that was sent to a chain. The payload is not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentTransaction {
    /// `0x` and 64 hexadecimal digits; None if neither we nor the node could compute it.
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
    /// The start of the quarter.
    pub at: Timestamp,
    pub credits: u64,
}
