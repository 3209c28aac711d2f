//! Engines reached over HTTP, one module per protocol, and the pool that balances between them.
//!
//! Images and transcripts have further protocols besides OpenAI's: `sdcpp`, `a1111`, `comfyui`,
//! `fal` and `whispercpp`.
//!
//! Path of a request: [`Pool`] selects a route and waits for a free slot at its provider → the
//! protocol (`openai`, `anthropic`) encodes the body → `transport` sends it → `pump` and `sse`
//! split the response into events → the protocol decodes them. All decisions (`pool::choice`,
//! `pool::breaker`, `failure`, the encoders and decoders) are plain functions over values.
//!
//! - An [`Upstream`] is one provider, built from [`UpstreamSettings`].
//! - [`Upstream::chat`] and [`Upstream::embeddings`] return an engine for one of its models.
//! - A [`Pool`] of [`Route`]s is itself an engine, over several of those.

mod a1111;
mod anthropic;
mod cache_mark;
mod comfyui;
mod dropped;
mod failure;
mod fal;
mod fan_out;
mod finish;
mod job;
mod openai;
mod picture;
mod pool;
mod pump;
mod queued;
mod quirks;
mod sdcpp;
mod sse;
mod transport;
mod upstream;
mod whispercpp;
mod whole;

pub use anthropic::Thinking;
pub use comfyui::{Slot, Workflow, WorkflowFault};
pub use pool::{Dice, Pool, Route, RouteHealth, RouteReport};
pub use queued::{MediaRoute, MediaRoutes};
pub use quirks::{OutputCap, Quirks, ReasoningStyle};
pub use transport::Timeouts;
pub use upstream::{
    Concurrency, LocalProcess, MediaWork, Protocol, Readiness, SetupError, Upstream,
    UpstreamSettings,
};

#[cfg(test)]
mod tests;
