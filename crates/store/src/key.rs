//! API keys as they are kept: what identifies them, what they may spend, and until when.

use credits::{KeyId, KeyTerms, LimitPeriod, OwnerId};
use domain::access::{KeyKind, ModelPrivacy};
use domain::secret::SecretDigest;
use moment::Timestamp;
use money::Nano;

/// The newest keys of an owner that a list shows; an owner has at most 500 that still open anything.
pub const KEYS_LISTED_MAX: usize = 1000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    pub id: KeyId,
    pub owner: OwnerId,
    /// Stands in for the secret, which is not kept.
    pub digest: SecretDigest,
    pub last6: String,
    pub kind: KeyKind,
    pub settings: KeySettings,
    pub created: Timestamp,
    pub last_used: Option<Timestamp>,
    pub revoked: Option<Timestamp>,
}

/// The part of a key that its owner may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySettings {
    pub description: String,
    /// The most the key may spend in a period, of USD and what counts as USD.
    pub limit_usd: Option<Nano>,
    pub limit_diem: Option<Nano>,
    pub limit_period: LimitPeriod,
    pub expires: Option<Timestamp>,
    /// Which models the key may use.
    pub model_privacy: ModelPrivacy,
}

impl ApiKey {
    /// Whether the key opens anything at this moment.
    pub fn is_active(&self, now: Timestamp) -> bool {
        let is_expired = self.settings.expires.is_some_and(|expires| expires <= now);
        self.revoked.is_none() && !is_expired
    }

    /// The kind as the column `kind` has it. An OPERATOR key is an ADMIN key with a mark in a column
    /// of its own, so that a release without operator keys can read the row.
    pub fn stored_kind(&self) -> &'static str {
        match self.kind {
            KeyKind::Operator => KeyKind::Admin.name(),
            kind => kind.name(),
        }
    }

    /// The limits as the ledger checks them.
    pub fn terms(&self) -> KeyTerms {
        KeyTerms {
            key: self.id,
            limit_usd: self.settings.limit_usd,
            limit_diem: self.settings.limit_diem,
            period: self.settings.limit_period,
        }
    }
}
