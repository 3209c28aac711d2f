//! The log of requests that a rate limit refused.

use ledger_core::{KeyId, OwnerId};
use moment::Timestamp;

/// Refusals kept per owner; new ones evict the oldest.
pub const LIMIT_HITS_KEPT: usize = 50;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitHit {
    pub owner: OwnerId,
    pub key: Option<KeyId>,
    /// The model, or `endpoint:` and a path if no model was named.
    pub model: String,
    pub tier: String,
    /// `RPM`, `TPM`, `RPD` and the like.
    pub kind: String,
    pub at: Timestamp,
}
