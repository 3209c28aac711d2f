//! Wallets as callers: whose balance they spend, and that what they signed counts once.

use credits::OwnerId;
use moment::Timestamp;
use sha2::{Digest, Sha256};
use store::Store;
use store::error::StoreError;
use store::owner::{Owner, OwnerKind};
use store::wallet::UsedNonce;
use store::write::{Group, Write};
use wallet::WalletAddress;

/// The limits of a wallet until the operator gives it others.
const TIER: &str = "default";

/// Why something signed does not count.
#[derive(Debug, Clone, thiserror::Error)]
pub enum NonceRefused {
    #[error("the nonce was used before")]
    Reused,
    /// Whether it was used before could not be found out.
    #[error(transparent)]
    Unknowable(#[from] StoreError),
}

/// Whose balance a wallet spends: an account that it is linked to, or its own.
///
/// A wallet that never paid has no row, and gets none here: crediting it writes
/// [`Write::EnsureOwner`] with this owner, in the group of the credit.
pub async fn owner(
    store: &dyn Store,
    wallet: WalletAddress,
    now: Timestamp,
) -> Result<Owner, StoreError> {
    let (kind, name) = (kind(wallet), wallet.to_string());
    let known = store.find_owner(kind, &name).await?;
    Ok(known.unwrap_or_else(|| unseen(wallet, now)))
}

/// The same, with a row, which other rows of the wallet refer to.
pub async fn owner_with_row(
    store: &dyn Store,
    wallet: WalletAddress,
    now: Timestamp,
) -> Result<Owner, StoreError> {
    let unseen = owner(store, wallet, now).await?;
    match store.commit(Group::of(Write::EnsureOwner(unseen))).await {
        // It was linked to an account meanwhile.
        Ok(()) | Err(StoreError::Missing(_)) => {}
        Err(error) => return Err(error),
    }
    // Somebody else may have been quicker, with another id.
    owner(store, wallet, now).await
}

/// Notes that a nonce was used, durably; a second use is refused.
pub async fn use_nonce(
    store: &dyn Store,
    wallet: WalletAddress,
    nonce: String,
    until: Timestamp,
) -> Result<(), NonceRefused> {
    let used = UsedNonce { wallet: wallet.to_string(), nonce, until };
    match store.commit(Group::of(Write::UseNonce(used))).await {
        Ok(()) => Ok(()),
        Err(StoreError::Duplicate(_)) => Err(NonceRefused::Reused),
        Err(error) => Err(NonceRefused::Unknowable(error)),
    }
}

pub fn kind(wallet: WalletAddress) -> OwnerKind {
    match wallet {
        WalletAddress::Evm(_) => OwnerKind::Evm,
        WalletAddress::Solana(_) => OwnerKind::Solana,
    }
}

/// The owner that a wallet will be. Its id follows from its address, so that two first payments
/// at once credit the same one.
fn unseen(wallet: WalletAddress, now: Timestamp) -> Owner {
    let name = wallet.to_string();
    let digest: [u8; 32] = Sha256::digest(format!("tollgate wallet {name}")).into();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    let id = OwnerId(uuid::Builder::from_custom_bytes(bytes).into_uuid());
    Owner { id, kind: kind(wallet), name, tier: TIER.to_owned(), created: now, frozen: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wallet_is_the_same_owner_however_often_it_is_seen() {
        let address = "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B";
        let [mixed, lower] = [address.to_owned(), address.to_lowercase()]
            .map(|it| unseen(WalletAddress::parse(&it).unwrap(), Timestamp::from_ms(1)));
        assert_eq!(mixed, lower);
        let other = "0x0000000000000000000000000000000000000001";
        let other = unseen(WalletAddress::parse(other).unwrap(), Timestamp::from_ms(1));
        assert_ne!(mixed.id, other.id);
    }
}
