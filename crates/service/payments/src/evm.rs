//! Payments on an EVM chain: queries of the chain, and the relayer that sends transactions.

mod chain;
mod fees;
mod lookup;
mod quantity;
mod relayer;
mod stuck_transactions;
mod transaction;

pub(crate) use chain::EvmChain;
pub use chain::EvmNodes;
pub(crate) use relayer::EvmRelayer;
