//! Decides when a provider's keys are fetched, and keeps the last ones.

use std::sync::Arc;
use std::time::Duration;

use moment::Timestamp;

use crate::key_set::KeySet;

/// The least time between two fetches of a provider's keys, in seconds: tokens with made-up key ids
/// must not make us call the provider for each.
pub const KEYS_FETCH_INTERVAL_S: u64 = 60;
/// The age from which keys are fetched again before they are used, in seconds, so that a key which
/// the provider withdrew is no longer accepted.
pub const KEYS_FRESH_S: u64 = 3600;

/// The keys of one provider. A failed fetch leaves the old keys in use.
#[derive(Debug, Clone, Default)]
pub struct KeySetCache {
    keys: Option<Arc<KeySet>>,
    fetched_at: Option<Timestamp>,
    tried_at: Option<Timestamp>,
}

impl KeySetCache {
    pub fn keys(&self) -> Option<Arc<KeySet>> {
        self.keys.clone()
    }

    /// True if there are no keys, or old ones.
    pub fn is_stale(&self, now: Timestamp) -> bool {
        self.fetched_at.is_none_or(|at| !is_within(at, now, KEYS_FRESH_S))
    }

    /// True if the keys may be fetched now, which is noted: callers that get false use what is
    /// there. Call it for a stale cache, and for a token whose key is unknown.
    pub fn begin_fetch(&mut self, now: Timestamp) -> bool {
        let is_too_soon = self.tried_at.is_some_and(|at| is_within(at, now, KEYS_FETCH_INTERVAL_S));
        if !is_too_soon {
            self.tried_at = Some(now);
        }
        !is_too_soon
    }

    pub fn store_keys(&mut self, keys: KeySet, now: Timestamp) {
        self.keys = Some(Arc::new(keys));
        self.fetched_at = Some(now);
    }
}

/// True if `at` is at most `seconds` before `now`. A time in the future is not within: the clock was
/// set back.
fn is_within(at: Timestamp, now: Timestamp, seconds: u64) -> bool {
    at <= now && now.since(at) < Duration::from_secs(seconds)
}
