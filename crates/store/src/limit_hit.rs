//! The log of requests that a rate limit refused.

use credits::{KeyId, OwnerId};
use moment::Timestamp;

/// How many refusals are kept of each owner; older ones are dropped as new ones come.
pub const LIMIT_HITS_KEPT: usize = 50;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitHit {
    pub owner: OwnerId,
    pub key: Option<KeyId>,
    /// The model, or `endpoint:` and a path where no model was named.
    pub model: String,
    pub tier: String,
    /// `RPM`, `TPM`, `RPD` and the like.
    pub kind: String,
    pub at: Timestamp,
}
