//! The binary as an operator uses it: real processes, their output and their exit codes.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests end at the first surprise")]

mod accounts;
mod backup;
mod basics;
mod configuration;
mod doctor;
mod harness;
mod keys;
mod ledger;
mod models;
mod operator;
mod provider;
mod reader;
mod serve;
