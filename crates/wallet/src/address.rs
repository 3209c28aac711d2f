//! Addresses of wallets, and the one way each of them is written down.

use std::fmt;

use alloy_primitives::Address;
use alloy_primitives::hex;

use crate::encoding::hex_array;

/// An address on an EVM chain. It displays with the capitals of EIP-55.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EvmAddress(Address);

impl EvmAddress {
    pub const fn from_bytes(bytes: [u8; 20]) -> EvmAddress {
        EvmAddress(Address::new(bytes))
    }

    /// Reads `0x` and 40 hexadecimal digits in any case.
    pub fn parse(text: &str) -> Option<EvmAddress> {
        hex_array(text).map(EvmAddress::from_bytes)
    }

    /// As [`EvmAddress::parse`], but mixed case must be the checksum of EIP-55. For addresses that
    /// people type: money sent to a mistyped one is gone.
    pub fn parse_checksummed(text: &str) -> Option<EvmAddress> {
        let address = EvmAddress::parse(text)?;
        let digits = &text[2..];
        let is_mixed = digits.bytes().any(|byte| byte.is_ascii_lowercase())
            && digits.bytes().any(|byte| byte.is_ascii_uppercase());
        (!is_mixed || address.to_string() == text).then_some(address)
    }

    pub fn bytes(self) -> [u8; 20] {
        self.0.into_array()
    }

    pub(crate) fn inner(self) -> Address {
        self.0
    }
}

impl From<Address> for EvmAddress {
    fn from(address: Address) -> EvmAddress {
        EvmAddress(address)
    }
}

impl fmt::Display for EvmAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_checksum(None))
    }
}

/// An address on Solana: an Ed25519 key, or an account derived from one. It displays in base58.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SolanaAddress(solana_address::Address);

impl SolanaAddress {
    pub const fn from_bytes(bytes: [u8; 32]) -> SolanaAddress {
        SolanaAddress(solana_address::Address::new_from_array(bytes))
    }

    /// An address that is known when this is compiled.
    pub(crate) const fn known(base58: &str) -> SolanaAddress {
        SolanaAddress(solana_address::Address::from_str_const(base58))
    }

    /// Reads 32 bytes in base58.
    pub fn parse(text: &str) -> Option<SolanaAddress> {
        text.parse().ok().map(SolanaAddress)
    }

    pub fn bytes(self) -> [u8; 32] {
        self.0.to_bytes()
    }

    pub(crate) fn inner(&self) -> &solana_address::Address {
        &self.0
    }
}

impl From<solana_address::Address> for SolanaAddress {
    fn from(address: solana_address::Address) -> SolanaAddress {
        SolanaAddress(address)
    }
}

impl fmt::Display for SolanaAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Who pays or signs in. It displays in its canonical form, by which it is stored and compared:
/// lower case on EVM chains, base58 on Solana.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WalletAddress {
    Evm(EvmAddress),
    Solana(SolanaAddress),
}

impl WalletAddress {
    /// Reads an address of either kind; the two forms cannot be confused.
    pub fn parse(text: &str) -> Option<WalletAddress> {
        if text.starts_with("0x") {
            return EvmAddress::parse(text).map(WalletAddress::Evm);
        }
        SolanaAddress::parse(text).map(WalletAddress::Solana)
    }
}

impl fmt::Display for WalletAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WalletAddress::Evm(address) => write!(f, "0x{}", hex::encode(address.bytes())),
            WalletAddress::Solana(address) => address.fmt(f),
        }
    }
}
