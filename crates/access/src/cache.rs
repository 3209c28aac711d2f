//! Holders by digest, forgotten whenever a change makes them untrue.

use std::sync::{Arc, PoisonError, RwLock};

use credits::KeyId;
use domain::secret::SecretDigest;
use hashbrown::HashMap;

use crate::Holder;

/// A full cache is emptied: refilling costs one read a key, and this is far above the number of
/// keys that one node sees in a minute.
const HOLDERS_MAX: usize = 100_000;

#[derive(Default)]
pub(crate) struct Cache {
    held: RwLock<Held>,
}

#[derive(Default)]
struct Held {
    holders: HashMap<SecretDigest, Arc<Holder>>,
    /// How often something was forgotten.
    changes: u64,
}

/// Proof of when a read began: what was read is kept only if nothing was forgotten since.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ticket(u64);

impl Cache {
    pub(crate) fn get(&self, digest: &SecretDigest) -> Option<Arc<Holder>> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        held.holders.get(digest).cloned()
    }

    pub(crate) fn ticket(&self) -> Ticket {
        Ticket(self.held.read().unwrap_or_else(PoisonError::into_inner).changes)
    }

    /// Keeps what was read, unless a change may have overtaken the reading.
    pub(crate) fn put(&self, ticket: Ticket, digest: SecretDigest, holder: Arc<Holder>) {
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        if held.changes != ticket.0 {
            return;
        }
        if HOLDERS_MAX <= held.holders.len() {
            held.holders.clear();
        }
        held.holders.insert(digest, holder);
    }

    pub(crate) fn forget(&self, digest: &SecretDigest) {
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        held.changes += 1;
        held.holders.remove(digest);
    }

    pub(crate) fn forget_key(&self, id: KeyId) {
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        held.changes += 1;
        held.holders.retain(|_, holder| holder.key().is_none_or(|key| key.id != id));
    }

    pub(crate) fn forget_all(&self) {
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        held.changes += 1;
        held.holders.clear();
    }
}

#[cfg(test)]
mod tests {
    use credits::{KeyId, LimitPeriod, OwnerId};
    use domain::access::{KeyKind, ModelPrivacy};
    use moment::Timestamp;
    use store::key::{ApiKey, KeySettings};
    use store::owner::{Owner, OwnerKind};
    use uuid::Uuid;

    use super::*;
    use crate::Proof;

    fn holder() -> Arc<Holder> {
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
        Arc::new(Holder { proof: Proof::Key(Box::new(key)), owner })
    }

    #[test]
    fn what_was_read_before_a_change_is_not_kept_after_it() {
        let digest = SecretDigest([1; 32]);
        let cache = Cache::default();
        let before = cache.ticket();
        cache.forget(&digest);
        cache.put(before, digest, holder());
        assert_eq!(cache.get(&digest), None);

        cache.put(cache.ticket(), digest, holder());
        assert!(cache.get(&digest).is_some());
        cache.forget_all();
        assert_eq!(cache.get(&digest), None);
    }
}
