//! Whose balance a wallet's money goes to.

use access::wallets;
use credits::OwnerId;
use moment::Timestamp;
use store::Store;
use store::error::StoreError;
use store::write::{Group, Write};
use wallet::WalletAddress;

/// The owner that a wallet spends as, which has a row from now on: the ledger needs one.
pub(crate) async fn purse_of(
    store: &dyn Store,
    wallet: WalletAddress,
    now: Timestamp,
) -> Result<OwnerId, StoreError> {
    let owner = wallets::owner(store, wallet, now).await?;
    let id = owner.id;
    store.commit(Group::of(Write::EnsureOwner(owner))).await?;
    Ok(id)
}
