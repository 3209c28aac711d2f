//! Stored API keys: their digest, limits and expiry.

use domain::access::{KeyKind, ModelPrivacy};
use domain::secret::SecretDigest;
use ledger_core::{KeyId, KeyTerms, LimitPeriod, OwnerId};
use moment::Timestamp;
use money::Nano;

/// The newest keys of an owner that a list shows; an owner has at most 500 active ones.
pub const KEYS_LISTED_MAX: usize = 1000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    pub id: KeyId,
    pub owner: OwnerId,
    /// The digest of the secret, which is not stored.
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
    /// The maximum spending per period in USD and the currencies that count as USD.
    pub limit_usd: Option<Nano>,
    pub limit_diem: Option<Nano>,
    pub limit_period: LimitPeriod,
    pub expires: Option<Timestamp>,
    /// The models that the key may use.
    pub model_privacy: ModelPrivacy,
}

impl ApiKey {
    /// True if the key can be used at this moment.
    pub fn is_active(&self, now: Timestamp) -> bool {
        let is_expired = self.settings.expires.is_some_and(|expires| expires <= now);
        self.revoked.is_none() && !is_expired
    }

    /// The value of the column `kind`. An OPERATOR key is stored as ADMIN with a mark in another
    /// column, so that a release without operator keys can read the row.
    pub fn stored_kind(&self) -> &'static str {
        match self.kind {
            KeyKind::Operator => KeyKind::Admin.name(),
            kind => kind.name(),
        }
    }

    /// The limits in the ledger's form.
    pub fn terms(&self) -> KeyTerms {
        KeyTerms {
            key: self.id,
            limit_usd: self.settings.limit_usd,
            limit_diem: self.settings.limit_diem,
            period: self.settings.limit_period,
        }
    }
}
