//! Limits the requests in progress per wallet, counted until their last byte is sent.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wallet::WalletAddress;

/// Requests in progress per wallet.
pub(crate) const VISITS_MAX: usize = 5;

/// The number of requests in progress, by wallet.
#[derive(Debug, Clone, Default)]
pub(crate) struct WalletConcurrency {
    /// A `std::sync::Mutex`, never held across an await.
    under_way: Arc<Mutex<HashMap<WalletAddress, usize>>>,
}

/// A request in progress, subtracted on drop.
#[derive(Debug)]
pub struct WalletRequestSlot {
    visits: WalletConcurrency,
    wallet: WalletAddress,
}

impl WalletConcurrency {
    /// None if the wallet already has the maximum in progress.
    pub(crate) fn begin(&self, wallet: WalletAddress) -> Option<WalletRequestSlot> {
        let mut under_way = self.lock();
        let count = under_way.entry(wallet).or_default();
        if VISITS_MAX <= *count {
            return None;
        }
        *count += 1;
        Some(WalletRequestSlot { visits: self.clone(), wallet })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<WalletAddress, usize>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for WalletRequestSlot {
    fn drop(&mut self) {
        let mut under_way = self.visits.lock();
        if let Some(count) = under_way.get_mut(&self.wallet) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                under_way.remove(&self.wallet);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_are_let_in_and_one_that_ends_lets_another_in() {
        let wallet = |last: u8| {
            WalletAddress::parse(&format!("0x{last:040x}")).expect("an address has 40 digits")
        };
        let visits = WalletConcurrency::default();
        let mut inside: Vec<WalletRequestSlot> =
            (0..5).filter_map(|_| visits.begin(wallet(1))).collect();
        assert_eq!(inside.len(), 5);
        assert!(visits.begin(wallet(1)).is_none());
        assert!(visits.begin(wallet(2)).is_some());
        inside.pop();
        inside.extend(visits.begin(wallet(1)));
        assert_eq!(inside.len(), 5);
        drop(inside);
        assert!(visits.lock().is_empty(), "nothing is kept of wallets that left");
    }
}
