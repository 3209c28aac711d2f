//! Rows of wallets that sign in: their used nonces, and the accounts they are linked to.

use ledger_core::OwnerId;
use moment::Timestamp;

use crate::owner::OwnerKind;

/// A nonce that a wallet signed, which is accepted once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedNonce {
    /// The wallet's address in its canonical form.
    pub wallet: String,
    pub nonce: String,
    /// From then on the signed message is refused for its age, and this can be deleted.
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
