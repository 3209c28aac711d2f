//! What is kept of wallets that sign in: the nonces they used, and whose balance they spend.

use credits::OwnerId;
use moment::Timestamp;

use crate::owner::OwnerKind;

/// Something that a wallet signed, which counts once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedNonce {
    /// The wallet's address in its canonical form.
    pub wallet: String,
    pub nonce: String,
    /// From then on what was signed is refused for its age, and this can be forgotten.
    pub until: Timestamp,
}

/// A wallet that spends the balance of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalletLink {
    pub kind: OwnerKind,
    /// The wallet's address in its canonical form.
    pub address: String,
    pub owner: OwnerId,
    pub at: Timestamp,
}
