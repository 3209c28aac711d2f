//! Wallets as callers: the owner whose balance they spend, and single use of nonces.

use ledger_core::OwnerId;
use moment::Timestamp;
use sha2::{Digest, Sha256};
use store::Store;
use store::error::StoreError;
use store::owner::{Owner, OwnerKind};
use store::wallet::UsedNonce;
use store::write::{StoreWrite, WriteGroup};
use wallet::WalletAddress;

/// The rate limit tier of a new wallet.
const TIER: &str = "default";

/// The reason why a nonce is refused.
#[derive(Debug, Clone, thiserror::Error)]
pub enum NonceRefusal {
    #[error("the nonce was used before")]
    Reused,
    /// The store failed, so it is unknown whether the nonce was used.
    #[error(transparent)]
    Unknowable(#[from] StoreError),
}

/// Returns the owner whose balance a wallet spends: an account that it is linked to, or its own.
///
/// A wallet that never paid has no row, and this function writes none: crediting it writes
/// [`StoreWrite::EnsureOwner`] with this owner, in the group of the credit.
pub async fn resolve_owner(
    store: &dyn Store,
    wallet: WalletAddress,
    now: Timestamp,
) -> Result<Owner, StoreError> {
    let (kind, name) = (owner_kind(wallet), wallet.to_string());
    let known = store.find_owner(kind, &name).await?;
    Ok(known.unwrap_or_else(|| new_wallet_owner(wallet, now)))
}

/// Like `owner`, and ensures that the owner has a row, to which other rows of the wallet refer.
pub async fn ensure_owner(
    store: &dyn Store,
    wallet: WalletAddress,
    now: Timestamp,
) -> Result<Owner, StoreError> {
    let unseen = resolve_owner(store, wallet, now).await?;
    match store.commit(WriteGroup::from_write(StoreWrite::EnsureOwner(unseen))).await {
        // The wallet was linked to an account meanwhile.
        Ok(()) | Err(StoreError::Missing(_)) => {}
        Err(error) => return Err(error),
    }
    // Read again, because a concurrent write may have created it with another id.
    resolve_owner(store, wallet, now).await
}

/// Durably records that a nonce was used. A second use is refused.
pub async fn use_nonce(
    store: &dyn Store,
    wallet: WalletAddress,
    nonce: String,
    until: Timestamp,
) -> Result<(), NonceRefusal> {
    let used = UsedNonce { wallet: wallet.to_string(), nonce, until };
    match store.commit(WriteGroup::from_write(StoreWrite::UseNonce(used))).await {
        Ok(()) => Ok(()),
        Err(StoreError::Duplicate(_)) => Err(NonceRefusal::Reused),
        Err(error) => Err(NonceRefusal::Unknowable(error)),
    }
}

pub fn owner_kind(wallet: WalletAddress) -> OwnerKind {
    match wallet {
        WalletAddress::Evm(_) => OwnerKind::Evm,
        WalletAddress::Solana(_) => OwnerKind::Solana,
    }
}

/// Returns the owner for a new wallet. The id is derived from the address, so that two concurrent
/// first payments credit the same owner.
fn new_wallet_owner(wallet: WalletAddress, now: Timestamp) -> Owner {
    let name = wallet.to_string();
    let digest: [u8; 32] = Sha256::digest(format!("tollgate wallet {name}")).into();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    let id = OwnerId(uuid::Builder::from_custom_bytes(bytes).into_uuid());
    Owner { id, kind: owner_kind(wallet), name, tier: TIER.to_owned(), created: now, frozen: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wallet_is_the_same_owner_however_often_it_is_seen() {
        let address = "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B";
        let [mixed, lower] = [address.to_owned(), address.to_lowercase()]
            .map(|it| new_wallet_owner(WalletAddress::parse(&it).unwrap(), Timestamp::from_ms(1)));
        assert_eq!(mixed, lower);
        let other = "0x0000000000000000000000000000000000000001";
        let other = new_wallet_owner(WalletAddress::parse(other).unwrap(), Timestamp::from_ms(1));
        assert_ne!(mixed.id, other.id);
    }
}
