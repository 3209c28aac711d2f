//! The reasons why a payment is refused: a code, the protocol's reason, and a message for people.

use thiserror::Error;

use crate::evm::EvmFault;
use crate::solana::SolanaFault;
use crate::terms::AmountFault;

/// A payment that will not be settled. Nothing has moved.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PaymentRefusal {
    #[error("Invalid payment header: {0}")]
    Malformed(&'static str),
    #[error("Unsupported x402 version: send version 2")]
    Version,
    #[error("Unsupported payment scheme: only `exact` is accepted")]
    Scheme,
    #[error("Unsupported payment network: pay on one of the networks in `accepts`")]
    Network,
    #[error("Unsupported token: pay with the `asset` in `accepts`")]
    Token,
    #[error("The recipient is wrong: pay the `payTo` in `accepts`")]
    Recipient,
    #[error(transparent)]
    Evm(#[from] EvmFault),
    #[error(transparent)]
    Solana(#[from] SolanaFault),
}

impl PaymentRefusal {
    /// The value of `error` in the response.
    pub fn code(&self) -> &'static str {
        match self {
            PaymentRefusal::Malformed(_) | PaymentRefusal::Version => "INVALID_PAYMENT_FORMAT",
            PaymentRefusal::Scheme => "UNSUPPORTED_SCHEME",
            PaymentRefusal::Network => "UNSUPPORTED_NETWORK",
            PaymentRefusal::Token => "UNSUPPORTED_TOKEN",
            PaymentRefusal::Recipient => "INVALID_PAYMENT_RECIPIENT",
            PaymentRefusal::Evm(fault) => fault.code(),
            PaymentRefusal::Solana(fault) => fault.code(),
        }
    }

    /// The x402 reason, for `details.reason` and `errorReason`.
    pub fn reason(&self) -> &'static str {
        match self {
            PaymentRefusal::Malformed(_) => "invalid_payload",
            PaymentRefusal::Version => "invalid_x402_version",
            PaymentRefusal::Scheme => "unsupported_scheme",
            PaymentRefusal::Network => "invalid_network",
            PaymentRefusal::Token | PaymentRefusal::Recipient => "invalid_payment_requirements",
            PaymentRefusal::Evm(fault) => fault.reason(),
            PaymentRefusal::Solana(fault) => fault.reason(),
        }
    }
}

impl AmountFault {
    pub(crate) fn code(self) -> &'static str {
        match self {
            AmountFault::TooLow { .. } => "AMOUNT_TOO_LOW",
            AmountFault::TooHigh { .. } => "AMOUNT_TOO_HIGH",
        }
    }
}

impl std::fmt::Display for AmountFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            AmountFault::TooLow { minimum } => {
                write!(f, "The payment is too low: pay at least {} USD", minimum.worth())
            }
            AmountFault::TooHigh { maximum } => {
                write!(f, "The payment is too high: pay at most {} USD", maximum.worth())
            }
        }
    }
}
