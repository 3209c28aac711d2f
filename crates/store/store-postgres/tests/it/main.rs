//! Tests with a real server, which is installed by `make test` and started for these tests only.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests end at the first surprise")]

mod batches;
mod changes;
mod conformance;
mod digests;
mod fencing;
mod frozen;
mod lost;
mod moving;
mod owners;
mod proxy;
mod schema;
mod server;
mod several;
mod tls;
