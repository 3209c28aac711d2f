//! Tests of the binary: real processes, their output and their exit codes.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests end at the first surprise")]

mod accounts;
mod agents;
mod backup;
mod basics;
mod browser;
mod configuration;
mod doctor;
mod harness;
mod keys;
mod ledger;
mod loops;
mod lost_answers;
mod models;
mod operator;
mod provider;
mod reader;
mod serve;
