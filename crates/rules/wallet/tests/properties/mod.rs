//! Properties that hold for any bytes of a caller. The fuzzer checks them on generated inputs, and
//! a plain test on every committed seed. Each returns true if the input got as far as possible: to
//! a valid signature.

mod payment;
mod sign_in;
mod solana;
mod web3_key;
mod world;

pub(crate) use payment::{payment_header, payment_payload};
pub(crate) use sign_in::{sign_in_header, sign_in_message};
pub(crate) use solana::solana_transaction;
pub(crate) use web3_key::web3_key;
