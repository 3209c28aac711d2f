//! The reasons why a sign-in is refused.

use thiserror::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SignInRefusal {
    #[error("The sign-in header must be base64 of a JSON object with an address and a signature")]
    InvalidPayload,
    #[error("The message is not a sign-in message of EIP-4361")]
    ParseError,
    #[error("The sign-in message is missing a field or has a wrong one")]
    InvalidMessage,
    #[error("The address in the message is not the address in the header")]
    AddressMismatch,
    #[error("The chain id cannot be read: send it as eip155:<number> or solana:<genesis>")]
    InvalidChainId,
    #[error("The chain in the message is not the chain in the header")]
    ChainMismatch,
    #[error("This chain is not supported")]
    UnsupportedChain,
    #[error("The sign-in message needs a nonce")]
    MissingNonce,
    #[error("The sign-in message is for another site")]
    DomainMismatch,
    #[error("The timestamp is not the time at which the message was issued")]
    TimestampMismatch,
    #[error("The sign-in has expired: sign a new message")]
    Expired,
    #[error("The sign-in message was issued in the future: check the clock")]
    FutureTimestamp,
    #[error("The sign-in message is not valid yet")]
    NotBefore,
    #[error("The signature is not this wallet's")]
    InvalidSignature,
    #[error("Invalid wallet address")]
    InvalidWallet,
    /// Returned by the caller, which stores the nonces.
    #[error("This nonce has already been used")]
    NonceReused,
}

impl SignInRefusal {
    pub fn code(self) -> &'static str {
        match self {
            SignInRefusal::InvalidPayload => "X402_SIGN_IN_INVALID_PAYLOAD",
            SignInRefusal::ParseError => "X402_SIGN_IN_PARSE_ERROR",
            SignInRefusal::InvalidMessage => "X402_SIGN_IN_INVALID_MESSAGE",
            SignInRefusal::AddressMismatch => "X402_SIGN_IN_ADDRESS_MISMATCH",
            SignInRefusal::InvalidChainId => "X402_SIGN_IN_INVALID_CHAIN_ID",
            SignInRefusal::ChainMismatch => "X402_SIGN_IN_CHAIN_MISMATCH",
            SignInRefusal::UnsupportedChain => "X402_SIGN_IN_UNSUPPORTED_CHAIN",
            SignInRefusal::MissingNonce => "X402_SIGN_IN_MISSING_NONCE",
            SignInRefusal::DomainMismatch => "X402_SIGN_IN_DOMAIN_MISMATCH",
            SignInRefusal::TimestampMismatch => "X402_SIGN_IN_TIMESTAMP_MISMATCH",
            SignInRefusal::Expired => "X402_SIGN_IN_EXPIRED",
            SignInRefusal::FutureTimestamp => "X402_SIGN_IN_FUTURE_TIMESTAMP",
            SignInRefusal::NotBefore => "X402_SIGN_IN_NOT_BEFORE",
            SignInRefusal::InvalidSignature => "X402_SIGN_IN_INVALID_SIGNATURE",
            SignInRefusal::InvalidWallet => "X402_SIGN_IN_INVALID_WALLET",
            SignInRefusal::NonceReused => "X402_SIGN_IN_NONCE_REUSED",
        }
    }
}
