//! Tests of payments, sign-ins and keys: input of real clients and of attackers.

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
