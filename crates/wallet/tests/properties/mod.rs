//! What must hold of any bytes that a caller sends. The fuzzer asks it of inputs of its own making,
//! and a plain test of every committed seed. Each tells whether the input came as far as it could: to a
//! signature that holds.

mod payment;
mod sign_in;
mod solana;
mod web3_key;
mod world;

pub(crate) use payment::{payment_header, payment_payload};
pub(crate) use sign_in::{sign_in_header, sign_in_message};
pub(crate) use solana::solana_transaction;
pub(crate) use web3_key::web3_key;
