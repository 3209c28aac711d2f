//! Engines reached over HTTP, one module per protocol, and the pool that balances between them.
//!
//! Images, transcripts and reranking have further protocols besides OpenAI's: `sdcpp`, `a1111`,
//! `comfyui`, `fal`, `whispercpp` and `tei`.
//!
//! Path of a request: [`RoutePool`] selects a route and waits for a free slot at its provider → the
//! protocol (`openai`, `openai_responses`, `anthropic`) encodes the body → `transport` sends it →
//! `pump` and `sse` split the response into events → the protocol decodes them. All decisions
//! (`pool::choice`, `pool::breaker`, `failure`, the encoders and decoders) are plain functions over
//! values.
//!
//! - An [`UpstreamProvider`] is one provider, built from [`UpstreamSettings`].
//! - [`UpstreamProvider::create_chat_engine`] and [`UpstreamProvider::create_embedding_engine`] return an engine for one of its models.
//! - A [`RoutePool`] of [`EngineRoute`]s is itself an engine, over several of those.

mod a1111;
mod answer_parts;
mod anthropic;
mod cache_mark;
mod comfyui;
mod dropped_fields;
mod event_stream;
mod failure;
mod fal;
mod fan_out;
mod finish;
mod job;
mod media_jobs;
mod openai;
mod openai_responses;
mod picture;
mod pool;
mod quirks;
mod rank_scores;
mod sdcpp;
mod single_chunk_stream;
mod sse;
mod tei;
mod transport;
mod upstream;
mod whispercpp;

pub use anthropic::ThinkingStyle;
pub use comfyui::{ComfyWorkflow, WorkflowFault, WorkflowSlot};
pub use media_jobs::{MediaRoute, MediaRoutes};
pub use pool::{EngineRoute, RandomSource, RouteHealth, RoutePool, RouteReport};
pub use quirks::{OpenAiChatApi, OutputCap, ReasoningStyle, ServerQuirks};
pub use transport::UpstreamTimeouts;
pub use upstream::{
    ChatModelSettings, ConcurrencyLimits, LocalProcess, MediaWork, ProviderProtocol,
    ProviderSetupError, ReadinessCheck, UpstreamProvider, UpstreamSettings,
};

#[cfg(test)]
mod tests;
