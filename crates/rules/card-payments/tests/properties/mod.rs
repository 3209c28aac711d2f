//! Properties that hold for any bytes that claim to be from Stripe. The fuzzer checks them on generated
//! inputs, and a plain test on every committed seed. Each returns true if the input was accepted.

mod payment;
mod webhook;

pub(crate) use payment::stripe_payment;
pub(crate) use webhook::stripe_webhook;
