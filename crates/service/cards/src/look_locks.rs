//! One look at a payment at a time, so that two do not ask Stripe the same.
//!
//! Correctness does not depend on it: a movement names the revision that it follows from.

use std::hash::{DefaultHasher, Hash, Hasher};

use card_payments::StripeId;
use tokio::sync::{Mutex, MutexGuard};

/// Looks at once; payments that share a lock wait for each other.
const LOCKS: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct LookLocks {
    locks: [Mutex<()>; LOCKS],
}

impl LookLocks {
    pub(crate) async fn lock(&self, intent: &StripeId) -> MutexGuard<'_, ()> {
        let mut hasher = DefaultHasher::new();
        intent.hash(&mut hasher);
        let index = usize::try_from(hasher.finish() % LOCKS as u64).unwrap_or(0);
        self.locks[index].lock().await
    }
}
