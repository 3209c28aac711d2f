//! Payments on Solana: queries of the chain, and the fee payer that signs and sends transactions.

mod chain;
mod cosigner;
mod key;
mod search;

pub(crate) use chain::{NEWEST, SolanaChain};
pub use chain::{SolanaCommitment, SolanaNode};
pub(crate) use cosigner::SolanaCosigner;
pub(crate) use key::parse_signing_key;
