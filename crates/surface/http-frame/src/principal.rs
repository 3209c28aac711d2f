//! The subject that failures and limits are counted for.

use std::net::IpAddr;

use ledger_core::KeyId;
use wallet::WalletAddress;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Principal {
    Key(KeyId),
    Wallet(WalletAddress),
    Address(IpAddr),
}
