//! Anthropic's Messages API: requests, responses and streams.

mod answer;
mod blocks;
mod deltas;
mod request;
mod stream;
mod thoughts;
mod turns;
mod usage;

use std::sync::Arc;

use engine::{ChatAnswer, ChatEngine, ChatRequest, ChatStream, EngineError};
use futures_util::future::BoxFuture;
use tokio::time::Instant;

pub(crate) use answer::read as read_message;
pub(crate) use request::Writer;
pub(crate) use stream::MessageDecoder;

use crate::pump;
use crate::transport::Endpoint;

/// The supported protocol version.
pub(crate) const VERSION: &str = "2023-06-01";

/// The way a model is asked to think.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Thinking {
    /// By a token budget: older models.
    #[default]
    Budget,
    /// Adaptively, controlled by an effort: newer models.
    Adaptive,
}

/// One model behind the Messages API.
pub(crate) struct AnthropicChat {
    pub(crate) endpoint: Endpoint,
    pub(crate) model: String,
    pub(crate) thinking: Thinking,
    /// Marks the system prompt for caching if the caller marks nothing.
    pub(crate) caches_system_prompt: bool,
    /// Length limit of an answer if the caller gives none, because the protocol requires one.
    pub(crate) completion_tokens_max: u64,
}

impl ChatEngine for AnthropicChat {
    fn answer(&self, request: Arc<ChatRequest>) -> BoxFuture<'_, Result<ChatAnswer, EngineError>> {
        Box::pin(async move {
            let body = self.writer().whole(&request)?;
            read_message(&self.endpoint.ask(body).await?)
        })
    }

    fn stream(&self, request: Arc<ChatRequest>) -> BoxFuture<'_, Result<ChatStream, EngineError>> {
        Box::pin(async move {
            let body = self.writer().streamed(&request)?;
            let deadline = Instant::now() + self.endpoint.timeouts.first_event;
            let answer = self.endpoint.open(body, deadline).await?;
            pump::start(answer, MessageDecoder::default(), self.endpoint.timeouts, deadline).await
        })
    }

    fn dropped(&self, request: &ChatRequest) -> Vec<String> {
        request::dropped(request)
    }

    fn continues_texts(&self) -> bool {
        false
    }
}

/// The error for a text completion, which this protocol does not support.
pub(crate) fn chats_only() -> EngineError {
    request::rejected("This model answers chats only; use /chat/completions")
}

impl AnthropicChat {
    fn writer(&self) -> Writer<'_> {
        Writer {
            model: &self.model,
            thinking: self.thinking,
            caches_system_prompt: self.caches_system_prompt,
            completion_tokens_max: self.completion_tokens_max,
        }
    }
}
