//! Whose balance a wallet's money goes to.

use credits::OwnerId;
use domain::entropy::{Entropy, time_ordered_id};
use moment::Timestamp;
use store::Store;
use store::error::StoreError;
use store::owner::{Owner, OwnerKind};
use store::write::{Group, Write};
use wallet::WalletAddress;

/// The set of rate limits that a wallet starts with.
const TIER: &str = "default";

pub fn owner_kind(wallet: WalletAddress) -> OwnerKind {
    match wallet {
        WalletAddress::Evm(_) => OwnerKind::Evm,
        WalletAddress::Solana(_) => OwnerKind::Solana,
    }
}

/// The owner that a wallet is, which comes to be when its first money does.
pub async fn purse_of(
    store: &dyn Store,
    wallet: WalletAddress,
    now: Timestamp,
    entropy: &dyn Entropy,
) -> Result<OwnerId, StoreError> {
    let (kind, name) = (owner_kind(wallet), wallet.to_string());
    if let Some(owner) = store.find_owner(kind, &name).await? {
        return Ok(owner.id);
    }
    let id = OwnerId(time_ordered_id(now, entropy));
    let owner = Owner { id, kind, name: name.clone(), tier: TIER.to_owned(), created: now };
    match store.commit(Group::of(Write::AddOwner(owner))).await {
        Ok(()) => Ok(id),
        // Somebody else was quicker.
        Err(StoreError::Duplicate(_)) => {
            let found = store.find_owner(kind, &name).await?;
            found.map(|owner| owner.id).ok_or(StoreError::Missing("the wallet's owner"))
        }
        Err(error) => Err(error),
    }
}
