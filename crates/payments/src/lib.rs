//! Payments that are settled on their chain exactly once.
//!
//! [`Payments::top_up`] takes a payment header and returns when the money is in the ledger, or says
//! why it is not. In between, the payment is a claim in the store: opened before the chain is
//! queried, holding each transaction before it is sent, and credited in one transaction with the
//! ledger. After a crash, [`Payments::reconcile`] looks up the unfinished claims on the chain.
//!
//! Map of the modules:
//! - `payments`: the interface for the rest of the service. `outcome`: its results.
//! - `claim_steps`: the steps of one claim. `late_claims`: failed claims that are paid after all.
//!   `in_flight`: each payment is processed once, however many requests wait for it.
//! - `reconcile`: claims that no request waits for. `recheck`: looks up credited ones again.
//!   `payee`: the owner that a payment is credited to.
//! - `settler`: the interface for sending payments. `direct`: with keys of our own.
//!   `facilitator`: through a service that does it for us.
//! - `inspect`: checks everything that settling needs.
//! - `evm`, `solana`: the queries and transactions of each chain. `node`, `json_server`: the
//!   clients. `identity`: checks that a node serves the right chain. `spending`: limits the fees of
//!   our own keys.
//! - `unsigned`: transactions for wallets in a browser to sign.
//! - `stakes`: the stakes of wallets, which are not payments.

mod claim_steps;
mod direct;
mod evm;
mod facilitator;
mod identity;
mod in_flight;
mod inspect;
mod json_server;
mod late_claims;
mod node;
mod outcome;
mod payee;
mod payments;
mod recheck;
mod reconcile;
mod settler;
mod solana;
mod spending;
mod stakes;
mod unsigned;

pub use direct::{Direct, EvmSetup, SolanaSetup};
pub use evm::EvmNodes;
pub use facilitator::{Facilitator, Witnesses};
pub use inspect::{Finding, Remedy};
pub use outcome::{Settled, TopUpRefused};
pub use payments::{Credited, Elsewhere, Parts, Payments, Policy};
pub use reconcile::Round;
pub use settler::{
    Decline, Moved, Order, Preparation, Prepared, SendSlot, Setback, Settler, SettlerFuture,
    Sighting,
};
pub use solana::{Commitment, SolanaNode};
pub use stakes::Stakes;
pub use unsigned::NoTransaction;

#[cfg(test)]
mod tests;
