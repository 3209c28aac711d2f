//! Test support: a service in memory, clients, clocks and stub upstreams.
//!
//! A [`TestApp`] is the whole service without sockets: requests go straight into its router. Every
//! JSON response in every test is checked against its published schema.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a broken test must stop at once")]

pub mod app;
pub mod chain;
pub mod client;
pub mod clock;
pub mod contract;
mod database;
pub mod failing_queries;
pub mod mcp_server;
pub mod media_engine;
mod names;
pub mod node;
mod operator;
mod parts;
mod queued_work;
pub mod seed;
pub mod site;
pub mod stream;
pub mod upstream;
pub mod wallet;
