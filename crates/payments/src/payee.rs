//! Finds the owner whose balance a wallet's payment is credited to.

use access::wallets;
use credits::OwnerId;
use moment::Timestamp;
use store::Store;
use store::error::StoreError;
use store::write::{Group, Write};
use wallet::WalletAddress;

/// Attempts. A wallet is linked only once, so the second lookup finds the account.
const LOOKS_MAX: usize = 3;

/// Returns the owner that a wallet spends as, and creates its row if missing: the ledger needs one.
pub(crate) async fn payee_of(
    store: &dyn Store,
    wallet: WalletAddress,
    now: Timestamp,
) -> Result<OwnerId, StoreError> {
    for _ in 0..LOOKS_MAX {
        let owner = wallets::owner(store, wallet, now).await?;
        let id = owner.id;
        match store.commit(Group::of(Write::EnsureOwner(owner))).await {
            // The wallet was linked to an account between the two steps.
            Err(StoreError::Missing(_)) => {}
            ensured => return ensured.map(|()| id),
        }
    }
    Err(StoreError::Busy)
}
