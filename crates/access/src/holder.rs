//! Who calls: what was shown, and the account that it opens.

use credits::Payer;
use store::key::ApiKey;
use store::owner::Owner;
use wallet::WalletAddress;

/// A caller who was recognised, and whose balance it spends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    pub proof: Proof,
    pub owner: Owner,
}

/// What the caller was recognised by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    Key(Box<ApiKey>),
    /// A signature of this wallet.
    Wallet(WalletAddress),
}

impl Holder {
    /// The key behind the call; wallets call without one.
    pub fn key(&self) -> Option<&ApiKey> {
        match &self.proof {
            Proof::Key(key) => Some(key),
            Proof::Wallet(_) => None,
        }
    }

    /// The wallet that signed, where no key was shown.
    pub fn wallet(&self) -> Option<WalletAddress> {
        match self.proof {
            Proof::Key(_) => None,
            Proof::Wallet(wallet) => Some(wallet),
        }
    }

    /// Who pays for a call, and within which limits of a key.
    pub fn payer(&self) -> Payer {
        Payer { owner: self.owner.id, key: self.key().map(ApiKey::terms) }
    }
}
