//! Payments on an EVM chain: what the chain says of them, and the relayer that sends them.

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
