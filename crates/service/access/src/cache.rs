//! Cache of key holders by digest. Entries are removed on every change that could affect them.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use domain::secret::SecretDigest;
use hashbrown::HashMap;
use ledger_core::KeyId;

use crate::CredentialHolder;

/// A full cache is cleared: refilling costs one read per key, and this limit is far above the
/// number of keys that one node sees in a minute.
const HOLDERS_MAX: usize = 100_000;

/// Lifetime of a cached holder while changes by other nodes cannot be received.
pub(crate) const UNHEARD_MAX: Duration = Duration::from_secs(10);

#[derive(Default)]
pub(crate) struct HolderCache {
    held: RwLock<HolderCacheState>,
}

#[derive(Default)]
struct HolderCacheState {
    holders: HashMap<SecretDigest, CachedHolder>,
    /// The number of removals so far.
    changes: u64,
    /// The time up to which all changes by other nodes were received; None if there are no other
    /// nodes.
    heard: Option<Instant>,
}

struct CachedHolder {
    holder: Arc<CredentialHolder>,
    read: Instant,
}

/// The number of removals when a read began. The result is cached only if it is still the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CacheVersion(u64);

impl HolderCache {
    pub(crate) fn get(&self, digest: &SecretDigest, now: Instant) -> Option<Arc<CredentialHolder>> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        let CachedHolder { holder, read } = held.holders.get(digest)?;
        let known = held.heard.map(|heard| heard.max(*read));
        let is_believed =
            known.is_none_or(|known| now.saturating_duration_since(known) < UNHEARD_MAX);
        is_believed.then(|| Arc::clone(holder))
    }

    /// Records that every change up to `now` was received. After the first call, a holder is valid
    /// for [`UNHEARD_MAX`] after it was read or after the last call.
    pub(crate) fn record_changes_received(&self, now: Instant) {
        self.held.write().unwrap_or_else(PoisonError::into_inner).heard = Some(now);
    }

    pub(crate) fn current_version(&self) -> CacheVersion {
        CacheVersion(self.held.read().unwrap_or_else(PoisonError::into_inner).changes)
    }

    /// Caches the result of a read, unless something was removed since `ticket`.
    pub(crate) fn insert_if_current(
        &self,
        ticket: CacheVersion,
        digest: SecretDigest,
        holder: Arc<CredentialHolder>,
    ) {
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        if held.changes != ticket.0 {
            return;
        }
        if HOLDERS_MAX <= held.holders.len() {
            held.holders.clear();
        }
        held.holders.insert(digest, CachedHolder { holder, read: Instant::now() });
    }

    pub(crate) fn forget_digest(&self, digest: &SecretDigest) {
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        held.changes += 1;
        held.holders.remove(digest);
    }

    pub(crate) fn forget_key(&self, id: KeyId) {
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        held.changes += 1;
        held.holders.retain(|_, read| read.holder.key().is_none_or(|key| key.id != id));
    }

    pub(crate) fn forget_all(&self) {
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        held.changes += 1;
        held.holders.clear();
    }
}

#[cfg(test)]
mod tests {
    use domain::access::{KeyKind, ModelPrivacy};
    use ledger_core::{KeyId, LimitPeriod, OwnerId};
    use moment::Timestamp;
    use store::key::{ApiKey, KeySettings};
    use store::owner::{Owner, OwnerKind};
    use uuid::Uuid;

    use super::*;
    use crate::CallerCredential;

    fn holder() -> Arc<CredentialHolder> {
        let settings = KeySettings {
            description: String::new(),
            limit_usd: None,
            limit_diem: None,
            limit_period: LimitPeriod::Epoch,
            expires: None,
            model_privacy: ModelPrivacy::All,
        };
        let created = Timestamp::from_ms(0);
        let key = ApiKey {
            id: KeyId(Uuid::nil()),
            owner: OwnerId(Uuid::nil()),
            digest: SecretDigest([1; 32]),
            last6: String::new(),
            kind: KeyKind::Admin,
            settings,
            created,
            last_used: None,
            revoked: None,
        };
        let owner = Owner {
            id: OwnerId(Uuid::nil()),
            kind: OwnerKind::Account,
            name: String::new(),
            tier: String::new(),
            created,
            frozen: None,
        };
        Arc::new(CredentialHolder { proof: CallerCredential::Key(Box::new(key)), owner })
    }

    #[test]
    fn what_was_read_before_a_change_is_not_kept_after_it() {
        let digest = SecretDigest([1; 32]);
        let cache = HolderCache::default();
        let before = cache.current_version();
        cache.forget_digest(&digest);
        cache.insert_if_current(before, digest, holder());
        assert_eq!(cache.get(&digest, Instant::now()), None);

        cache.insert_if_current(cache.current_version(), digest, holder());
        assert!(cache.get(&digest, Instant::now()).is_some());
        cache.forget_all();
        assert_eq!(cache.get(&digest, Instant::now()), None);
    }

    #[test]
    fn a_holder_is_not_believed_for_long_while_changes_are_not_heard() {
        let digest = SecretDigest([1; 32]);
        let (cache, begun) = (HolderCache::default(), Instant::now());
        cache.insert_if_current(cache.current_version(), digest, holder());
        let hour = Duration::from_secs(3600);
        assert!(cache.get(&digest, begun + hour).is_some(), "there is no other node");
        cache.record_changes_received(begun);
        assert!(cache.get(&digest, begun + Duration::from_secs(9)).is_some());
        assert_eq!(cache.get(&digest, begun + hour), None);
        cache.record_changes_received(begun + hour);
        assert!(cache.get(&digest, begun + hour + Duration::from_secs(9)).is_some());
        assert_eq!(cache.get(&digest, begun + hour + UNHEARD_MAX), None);
    }
}
