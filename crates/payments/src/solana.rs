//! Payments on Solana: what the chain says of them, and the fee payer that signs and sends them.

mod chain;
mod cosigner;
mod key;
mod search;

pub use chain::{Commitment, SolanaNode};
pub(crate) use chain::{NEWEST, SolanaChain};
pub(crate) use cosigner::Cosigner;
pub(crate) use key::signing_key;
