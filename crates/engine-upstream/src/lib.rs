//! Engines reached over HTTP, one module per protocol, and the pool that balances between them.
//!
//! A request goes: [`Pool`] chooses a route and waits for a place at its provider → the protocol
//! (`openai`, `anthropic`) writes the body → `transport` sends it → `pump` and `sse` cut the
//! answer into events → the protocol reads them. Everything that decides something (`pool::choice`,
//! `pool::breaker`, `failure`, the readers and writers) is plain functions over values.
//!
//! - An [`Upstream`] is one provider, built from [`UpstreamSettings`].
//! - [`Upstream::chat`] and [`Upstream::embeddings`] give an engine for one of its models.
//! - A [`Pool`] of [`Route`]s is an engine again, over several of those.

mod anthropic;
mod cache_mark;
mod failure;
mod fan_out;
mod finish;
mod openai;
mod pool;
mod pump;
mod quirks;
mod sse;
mod transport;
mod upstream;
mod whole;

pub use anthropic::Thinking;
pub use pool::{Dice, Pool, Route, RouteReport, Standing};
pub use quirks::{OutputCap, Quirks, ReasoningStyle};
pub use transport::Timeouts;
pub use upstream::{
    Concurrency, LocalProcess, Protocol, Readiness, SetupError, Upstream, UpstreamSettings,
};

#[cfg(test)]
mod tests;
