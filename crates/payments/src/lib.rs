//! Payments that reach their chain exactly once.
//!
//! [`Payments::top_up`] takes a payment header and answers when the money is in the ledger, or says
//! why it is not. In between, the payment is a claim in the store: opened before the chain is asked
//! anything, with what is sent in it before it is sent, and credited in one transaction with the
//! ledger. Whatever is unfinished after a crash, [`Payments::reconcile`] asks the chain about.
//!
//! Where to look:
//! - `payments`: what the rest of the service calls. `outcome`: what it gets.
//! - `claim_steps`: the steps of one claim. `late_claims`: failed claims that are paid after all.
//!   `in_flight`: each payment is processed once, however many requests wait for it.
//! - `reconcile`: claims that nobody waits for. `recheck`: whether credited ones are still there.
//!   `payee`: whose money it becomes.
//! - `settler`: what a way to settle must do. `direct`: from here, with keys of our own.
//!   `facilitator`: by a service that does it for us.
//! - `inspect`: whether all that settling needs is as it should be.
//! - `evm`, `solana`: what the chains are asked and sent. `node`, `json_server`: how. `identity`:
//!   that it is the right chain. `spending`: what our own keys may pay in fees.
//! - `unsigned`: transactions for wallets in a browser to sign.
//! - `stakes`: what wallets have staked, which is no payment.

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
