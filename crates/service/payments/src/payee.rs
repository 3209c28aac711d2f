//! Finds the owner whose balance a wallet's payment is credited to.

use access::wallets;
use ledger_core::OwnerId;
use moment::Timestamp;
use store::Store;
use store::error::StoreError;
use store::write::{StoreWrite, WriteGroup};
use wallet::WalletAddress;

/// Attempts. A wallet is linked only once, so the second lookup finds the account.
const LOOKS_MAX: usize = 3;

/// Returns the owner that a wallet spends as, and creates its row if missing: the ledger needs one.
pub(crate) async fn ensure_payee(
    store: &dyn Store,
    wallet: WalletAddress,
    now: Timestamp,
) -> Result<OwnerId, StoreError> {
    for _ in 0..LOOKS_MAX {
        let owner = wallets::resolve_owner(store, wallet, now).await?;
        let id = owner.id;
        match store.commit(WriteGroup::from_write(StoreWrite::EnsureOwner(owner))).await {
            // The wallet was linked to an account between the two steps.
            Err(StoreError::Missing(_)) => {}
            ensured => return ensured.map(|()| id),
        }
    }
    Err(StoreError::Busy)
}
