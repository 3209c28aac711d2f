//! Wallets that had a balance when they last signed in.
//!
//! Anyone can create wallets, so sign-ins are counted by address before the ledger is read, and few
//! are admitted. A wallet known to have a balance may sign in with every request.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use moment::Timestamp;
use wallet::WalletAddress;

/// Time after which a wallet's balance is checked again.
const CACHE_LIFETIME: Duration = Duration::from_secs(600);
/// Beyond this many, expired entries are removed, or all if none has expired.
const PAYERS_MAX: usize = 50_000;

#[derive(Debug, Default)]
pub(crate) struct WalletsWithBalance {
    /// Never held across an await.
    until: Mutex<HashMap<WalletAddress, Timestamp>>,
}

impl WalletsWithBalance {
    pub(crate) fn contains(&self, wallet: WalletAddress, now: Timestamp) -> bool {
        self.lock().get(&wallet).is_some_and(|until| now < *until)
    }

    pub(crate) fn insert(&self, wallet: WalletAddress, now: Timestamp) {
        let mut known = self.lock();
        if PAYERS_MAX <= known.len() {
            known.retain(|_, until| now < *until);
        }
        if PAYERS_MAX <= known.len() {
            known.clear();
        }
        known.insert(wallet, now.plus(CACHE_LIFETIME));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<WalletAddress, Timestamp>> {
        self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payer_is_known_for_a_while_and_the_memory_is_bounded() {
        let wallet = |number: usize| WalletAddress::parse(&format!("0x{number:040x}")).unwrap();
        let (payers, now) = (WalletsWithBalance::default(), Timestamp::from_ms(1_000));
        payers.insert(wallet(1), now);
        assert!(payers.contains(wallet(1), now) && !payers.contains(wallet(2), now));
        assert!(!payers.contains(wallet(1), now.plus(CACHE_LIFETIME)));
        for number in 0..=PAYERS_MAX {
            payers.insert(wallet(number), now);
        }
        assert!(payers.lock().len() <= PAYERS_MAX);
    }
}
