//! Tests of the live ledger, each on a real SQLite database unless the disk is to fail.

mod books;
mod charges;
mod clock;
mod concurrency;
mod entries;
mod failures;
mod fixture;
mod holds;
mod jobs;
mod raises;
mod random;
mod reversals;
mod tampering;
