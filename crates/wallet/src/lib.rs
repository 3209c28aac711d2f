//! Payments and sign-in by wallets as pure verdicts: bytes and the time in, a verdict out.
//!
//! - A payment: [`Payment::decode`] reads a header, [`verify_payment`] judges it against the
//!   [`PaymentTerms`]. What comes out is ready to be settled, and its [`PaymentId`] names what can
//!   happen at most once.
//! - A sign-in: [`SignIn::decode`] reads a header, [`verify_sign_in`] judges it by the
//!   [`SignInRules`]. What comes out holds if its nonce is new.
//! - An API key for a wallet: [`mint_token`], and [`verify_web3_key`] once it is signed.
//!
//! There is no clock, randomness or I/O in here. Each of the three gives a [`Verdict`]: it holds, or
//! it holds if a contract on the chain says so, and then it comes with the question to ask.
//!
//! Where to look:
//! - `address`, `network`, `amount`, `terms`: what the words mean.
//! - `payload`, `payment`, `payment_id`, `refusal`: payments on any chain.
//! - `evm`: EIP-3009 authorizations, the calls to the token, receipts.
//! - `verdict`, `contract`: what contract wallets signed (ERC-1271, ERC-6492).
//! - `solana`: transactions and what they may do.
//! - `sign_in`: the text of EIP-4361, both header forms, the rules, the challenge.

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
pub use contract::{ContractCheck, Deployment};
pub use encoding::HEADER_BYTES_MAX;
pub use network::{Network, SolanaCluster};
pub use payload::{Payment, Proof, SIGNATURE_BYTES_MAX};
pub use payment::{Settlement, VerifiedPayment, verify_payment};
pub use payment_id::PaymentId;
pub use refusal::PaymentRefusal;
pub use sign_in::{SignIn, SignInRefusal, SignInRules, SignedIn, verify_sign_in};
pub use terms::{AmountFault, EvmTerms, PaymentTerms, Requirement, SCHEME, SolanaTerms};
pub use verdict::{Unconfirmed, Verdict};
pub use web3_key::{
    TOKEN_LIFETIME_S, TokenSecret, Web3Key, Web3KeyFault, mint_token, verify_web3_key,
};
