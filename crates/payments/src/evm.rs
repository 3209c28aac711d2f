//! Payments on an EVM chain: queries of the chain, and the relayer that sends transactions.

mod chain;
mod fees;
mod quantity;
mod relayer;
mod sighting;
mod stuck;
mod transaction;

pub(crate) use chain::EvmChain;
pub use chain::EvmNodes;
pub(crate) use relayer::Relayer;
