//! Owners of a balance: an account of this installation, or a wallet on a chain.

use ledger_core::OwnerId;
use moment::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    pub id: OwnerId,
    pub kind: OwnerKind,
    /// The account's name, or the wallet's address in its canonical form. Unique within its kind.
    pub name: String,
    /// The name of the set of rate limits that applies.
    pub tier: String,
    pub created: Timestamp,
    /// The time since which the owner is frozen: it cannot spend or sign in; its money stays.
    pub frozen: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OwnerKind {
    Account,
    Evm,
    Solana,
}

impl OwnerKind {
    pub fn name(self) -> &'static str {
        match self {
            OwnerKind::Account => "account",
            OwnerKind::Evm => "evm",
            OwnerKind::Solana => "solana",
        }
    }

    pub fn parse(name: &str) -> Option<OwnerKind> {
        match name {
            "account" => Some(OwnerKind::Account),
            "evm" => Some(OwnerKind::Evm),
            "solana" => Some(OwnerKind::Solana),
            _ => None,
        }
    }
}
