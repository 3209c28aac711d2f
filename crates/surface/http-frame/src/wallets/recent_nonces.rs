//! Recently used nonces, so that replaying one costs the database nothing.
//!
//! If the store refuses a group, it must write the whole batch again. Without this cache, one
//! caller with one signed message could cause that all the time.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use moment::Timestamp;
use wallet::WalletAddress;

/// Beyond this many, expired entries are removed, or all if none has: the store knows them.
const NONCES_KNOWN_MAX: usize = 50_000;

/// A wallet and its nonce.
type WalletNonce = (WalletAddress, String);

#[derive(Debug, Default)]
pub(crate) struct RecentNonces {
    /// A `std::sync::Mutex`, never held across an await.
    known: Mutex<HashMap<WalletNonce, Timestamp>>,
}

impl RecentNonces {
    /// True if the nonce is known to be used. False means nothing: the store decides.
    pub(crate) fn contains(&self, nonce: &WalletNonce) -> bool {
        self.lock().contains_key(nonce)
    }

    pub(crate) fn insert(&self, nonce: WalletNonce, until: Timestamp, now: Timestamp) {
        let mut known = self.lock();
        if NONCES_KNOWN_MAX <= known.len() {
            known.retain(|_, until| now < *until);
        }
        if NONCES_KNOWN_MAX <= known.len() {
            known.clear();
        }
        known.insert(nonce, until);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<WalletNonce, Timestamp>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nonce(number: usize) -> WalletNonce {
        let address = "0x0000000000000000000000000000000000000001";
        (WalletAddress::parse(address).expect("it has 40 digits"), format!("{number:016}"))
    }

    #[test]
    fn what_was_noted_is_known_and_the_memory_is_bounded() {
        let replays = RecentNonces::default();
        let (now, soon) = (Timestamp::from_ms(1_000), Timestamp::from_ms(2_000));
        replays.insert(nonce(0), Timestamp::from_ms(9_000), now);
        for number in 1..NONCES_KNOWN_MAX {
            replays.insert(nonce(number), soon, now);
        }
        assert!(replays.contains(&nonce(0)) && replays.contains(&nonce(1)));
        replays.insert(nonce(NONCES_KNOWN_MAX), soon, soon);
        assert!(replays.contains(&nonce(0)), "it has not expired");
        assert!(!replays.contains(&nonce(1)), "it has expired");
        assert!(replays.lock().len() <= NONCES_KNOWN_MAX);
    }
}
