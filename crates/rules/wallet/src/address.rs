//! Addresses of wallets, and the canonical form of each.

use std::fmt;

use alloy_primitives::Address;
use alloy_primitives::hex;

use crate::encoding::hex_array;

/// An address on an EVM chain. Displays with the EIP-55 checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EvmAddress(Address);

impl EvmAddress {
    pub const fn from_bytes(bytes: [u8; 20]) -> EvmAddress {
        EvmAddress(Address::new(bytes))
    }

    /// Parses `0x` and 40 hexadecimal digits in any case.
    pub fn parse(text: &str) -> Option<EvmAddress> {
        hex_array(text).map(EvmAddress::from_bytes)
    }

    /// Like [`EvmAddress::parse`], but mixed case must be the EIP-55 checksum. For addresses that
    /// people type: money sent to a mistyped one is lost.
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

/// An address on Solana: an Ed25519 key, or an account derived from one. Displays in base58.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SolanaAddress(solana_address::Address);

impl SolanaAddress {
    pub const fn from_bytes(bytes: [u8; 32]) -> SolanaAddress {
        SolanaAddress(solana_address::Address::new_from_array(bytes))
    }

    /// An address that is known at compile time.
    pub(crate) const fn from_constant(base58: &str) -> SolanaAddress {
        SolanaAddress(solana_address::Address::from_str_const(base58))
    }

    /// Parses 32 bytes in base58.
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

/// The wallet that pays or signs in. Displays in its canonical form, in which it is stored and
/// compared: lower case on EVM chains, base58 on Solana.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WalletAddress {
    Evm(EvmAddress),
    Solana(SolanaAddress),
}

impl WalletAddress {
    /// Parses an address of either kind; the two forms cannot be confused.
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
