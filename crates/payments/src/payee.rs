//! Whose balance a wallet's money goes to.

use access::wallets;
use credits::OwnerId;
use moment::Timestamp;
use store::Store;
use store::error::StoreError;
use store::write::{Group, Write};
use wallet::WalletAddress;

/// A wallet is linked once, so the second look finds the account.
const LOOKS_MAX: usize = 3;

/// The owner that a wallet spends as, which has a row from now on: the ledger needs one.
pub(crate) async fn payee_of(
    store: &dyn Store,
    wallet: WalletAddress,
    now: Timestamp,
) -> Result<OwnerId, StoreError> {
    for _ in 0..LOOKS_MAX {
        let owner = wallets::owner(store, wallet, now).await?;
        let id = owner.id;
        match store.commit(Group::of(Write::EnsureOwner(owner))).await {
            // It was linked to an account between the two.
            Err(StoreError::Missing(_)) => {}
            ensured => return ensured.map(|()| id),
        }
    }
    Err(StoreError::Busy)
}
