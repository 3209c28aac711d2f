//! Tests of payments, sign-ins and keys: what real clients send, and what attackers would.

mod amounts;
mod clients;
mod contracts;
mod evm;
mod evm_attacks;
mod message;
mod nonsense;
mod receipts;
mod sign_in;
mod sign_in_signatures;
mod solana;
mod solana_attacks;
mod solana_world;
mod terms;
mod web3_key;
mod world;
