//! Verifies payments and sign-ins of wallets: pure functions of the bytes and the time.
//!
//! - A payment: [`UnverifiedPayment::decode`] parses a header, [`verify_payment`] checks it against the
//!   [`PaymentTerms`]. The result is ready to be settled, and its [`PaymentId`] identifies what can
//!   happen at most once.
//! - A sign-in: [`SignIn::decode`] parses a header, [`verify_sign_in`] checks it against the
//!   [`SignInRules`]. The result is valid if its nonce is new.
//! - An API key for a wallet: [`mint_token`], and [`verify_web3_key`] once it is signed.
//!
//! There is no clock, randomness or I/O in here. Each of the three returns a [`WalletVerdict`]: verified,
//! or verified if a contract on the chain confirms the signature, with the query to send to it.
//!
//! Map of the modules:
//! - `address`, `network`, `amount`, `terms`: the terms of the domain.
//! - `payload`, `payment`, `payment_id`, `refusal`: payments on any chain.
//! - `evm`: EIP-3009 authorizations, the calls to the token, receipts.
//! - `verdict`, `contract`: signatures of contract wallets (ERC-1271, ERC-6492).
//! - `solana`: transactions and the instructions they may have.
//! - `sign_in`: the EIP-4361 text, both header forms, the rules, the challenge.

mod address;
mod amount;
mod contract;
mod encoding;
mod network;
mod payload;
mod payment;
mod payment_id;
mod refusal;
mod terms;
mod verdict;
mod web3_key;

pub mod evm;
pub mod sign_in;
pub mod solana;

#[cfg(test)]
mod tests;

pub use address::{EvmAddress, SolanaAddress, WalletAddress};
pub use amount::{TOKEN_DECIMALS, TokenAmount};
pub use contract::{ContractCheck, WalletDeployment};
pub use encoding::HEADER_BYTES_MAX;
pub use network::{ChainNetwork, SolanaCluster};
pub use payload::{PaymentProof, SIGNATURE_BYTES_MAX, UnverifiedPayment};
pub use payment::{SettlementData, VerifiedPayment, verify_payment};
pub use payment_id::PaymentId;
pub use refusal::PaymentRefusal;
pub use sign_in::{SignIn, SignInRefusal, SignInRules, VerifiedSignIn, verify_sign_in};
pub use terms::{AmountFault, EvmTerms, PaymentRequirement, PaymentTerms, SCHEME, SolanaTerms};
pub use verdict::{PendingContractCheck, WalletVerdict};
pub use web3_key::{
    TOKEN_LIFETIME_S, TokenSecret, Web3Key, Web3KeyFault, mint_token, verify_web3_key,
};
