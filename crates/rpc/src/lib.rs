//! The JSON-RPC proxy: networks, methods and their tiers, batches, and the node client.
//!
//! A request goes through the modules in this order. [`networks`] knows the chain, [`batch`] reads
//! the body with the help of [`call`] and the allowlist in [`methods`], [`idempotency`] decides
//! whether to run at all, [`billing`] says what it may cost, [`caps`] whether the caller's day
//! still has room, [`node`] asks a chain's nodes, [`exchange`] puts their answers together, and
//! [`billing`] says what it did cost. [`transaction`] names a sent transaction for the audit line
//! without keeping it.
//!
//! Only [`node`] does I/O; everything else is values in, values out.

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
