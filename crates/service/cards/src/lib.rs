//! Payments by card through Stripe's Checkout.
//!
//! [`CardService::create_checkout`] stores an order and returns the page on which it is paid. A webhook
//! ([`CardService::receive_webhook`]) only says which payment to look at, and so do Stripe's list of
//! events and the orders that are not paid yet, which [`CardService::poll`] reads. A look fetches the
//! PaymentIntent with all its refunds, disputes and warnings, and moves the ledger to what they say.
//! The rules are in `card-payments`.
//!
//! Everything durable is behind [`CardStore`] and [`CardLedger`]. A crash between any two steps loses
//! nothing: what to look at is stored before it is acknowledged, and a look can be repeated.
//!
//! Map of the modules:
//! - `service`: the parts and settings. `checkout`, `webhook`, `look`, `poll`: its operations.
//! - `facts`: fetches what Stripe says about a payment. `look_locks`: one look at a payment at a time.
//! - `ports`, `rows`: the interfaces to the store and the ledger, and their rows.
//! - `stripe_client`: the client of Stripe's API.

mod checkout;
mod facts;
mod look;
mod look_locks;
mod poll;
mod ports;
mod rows;
mod service;
mod stripe_client;
mod webhook;

pub use checkout::{CheckoutPage, CheckoutRefusal, CheckoutRequest};
pub use facts::StripeSetback;
pub use look::LookFault;
pub use poll::CardPollSummary;
pub use ports::{
    CardFuture, CardLedger, CardStore, CardStoreFault, MoneyMove, StripeAnswer, StripeApi,
    StripeUnreached,
};
pub use rows::{CardOrderRow, CardOrderState, CardWrite, LookTarget, OrderCursor, PendingLook};
pub use service::{CardParts, CardService, CardSettings};
pub use stripe_client::{StripeClient, StripeClientFault};
pub use webhook::WebhookFault;

#[cfg(test)]
mod tests;
