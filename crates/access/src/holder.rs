//! The authenticated caller: its credential and its account.

use credits::Payer;
use store::key::ApiKey;
use store::owner::Owner;
use wallet::WalletAddress;

/// An authenticated caller, and the owner whose balance it spends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    pub proof: Proof,
    pub owner: Owner,
}

/// The credential that authenticated the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    Key(Box<ApiKey>),
    /// A signature by this wallet.
    Wallet(WalletAddress),
}

impl Holder {
    /// Returns the key of the call; None for wallets.
    pub fn key(&self) -> Option<&ApiKey> {
        match &self.proof {
            Proof::Key(key) => Some(key),
            Proof::Wallet(_) => None,
        }
    }

    /// Returns the wallet that signed; None if a key was used.
    pub fn wallet(&self) -> Option<WalletAddress> {
        match self.proof {
            Proof::Key(_) => None,
            Proof::Wallet(wallet) => Some(wallet),
        }
    }

    /// Returns the owner who pays for a call, with the key's limits.
    pub fn payer(&self) -> Payer {
        Payer { owner: self.owner.id, key: self.key().map(ApiKey::terms) }
    }
}
