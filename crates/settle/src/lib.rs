//! Payments that reach their chain exactly once.
//!
//! [`Payments::top_up`] takes a payment header and answers when the money is in the ledger, or says
//! why it is not. In between, the payment is a claim in the store: opened before the chain is asked
//! anything, with what is sent in it before it is sent, and credited in one transaction with the
//! ledger. Whatever is unfinished after a crash, [`Payments::reconcile`] asks the chain about.
//!
//! Where to look:
//! - `payments`: what the rest of the service calls. `outcome`: what it is told.
//! - `course`: the steps of one claim. `flights`: one course for each payment, however many wait.
//! - `reconcile`: claims that nobody waits for. `purse`: whose money it is.
//! - `settler`: what a way to settle must do.

mod course;
mod flights;
mod outcome;
mod payments;
mod purse;
mod reconcile;
mod settler;

pub use outcome::{Settled, TopUpRefused};
pub use payments::{Parts, Payments, Policy};
pub use purse::{owner_kind, purse_of};
pub use reconcile::Round;
pub use settler::{
    Decline, Moved, Order, Preparation, Prepared, Setback, Settler, Sighting, Step, Turn,
};

#[cfg(test)]
mod tests;
