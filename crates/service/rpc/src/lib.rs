//! The JSON-RPC proxy: networks, methods and their tiers, batches, and the node client.
//!
//! A request passes through the modules in this order. [`networks`] knows the chain, [`batch`]
//! parses the body with [`call`] and the allowlist in [`methods`], [`idempotency`] decides between
//! running and replaying, [`billing`] computes the maximum cost, [`caps`] checks the caller's daily
//! cap, [`node`] calls a chain's nodes, [`exchange`] combines their answers, and [`billing`]
//! computes the actual cost. [`transaction`] computes a submitted transaction's hash for the audit
//! line, without storing it.
//!
//! Only [`node`] does I/O; all other modules are pure.

pub mod batch;
pub mod billing;
pub mod call;
pub mod caps;
pub mod exchange;
pub mod idempotency;
mod immutable;
pub mod in_flight;
pub mod methods;
pub mod networks;
pub mod node;
mod node_answer;
pub mod transaction;
mod values;
pub mod window;
