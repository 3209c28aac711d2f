//! The authenticated caller: its credential and its account.

use ledger_core::HoldPayer;
use store::key::ApiKey;
use store::owner::Owner;
use wallet::WalletAddress;

/// An authenticated caller, and the owner whose balance it spends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialHolder {
    pub proof: CallerCredential,
    pub owner: Owner,
}

/// The credential that authenticated the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallerCredential {
    Key(Box<ApiKey>),
    /// A signature by this wallet.
    Wallet(WalletAddress),
}

impl CredentialHolder {
    /// Returns the key of the call; None for wallets.
    pub fn key(&self) -> Option<&ApiKey> {
        match &self.proof {
            CallerCredential::Key(key) => Some(key),
            CallerCredential::Wallet(_) => None,
        }
    }

    /// Returns the wallet that signed; None if a key was used.
    pub fn wallet(&self) -> Option<WalletAddress> {
        match self.proof {
            CallerCredential::Key(_) => None,
            CallerCredential::Wallet(wallet) => Some(wallet),
        }
    }

    /// Returns the owner who pays for a call, with the key's limits.
    pub fn payer(&self) -> HoldPayer {
        HoldPayer { owner: self.owner.id, key: self.key().map(ApiKey::terms) }
    }
}
