//! Payments on Solana: queries of the chain, and the fee payer that signs and sends transactions.

mod chain;
mod cosigner;
mod key;
mod search;

pub use chain::{Commitment, SolanaNode};
pub(crate) use chain::{NEWEST, SolanaChain};
pub(crate) use cosigner::Cosigner;
pub(crate) use key::signing_key;
