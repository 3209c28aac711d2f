//! The protocol of Anthropic's Messages API, in both directions.

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

/// The version of the protocol that is spoken here.
pub(crate) const VERSION: &str = "2023-06-01";

/// How a model is asked to think.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Thinking {
    /// With a number of tokens: the older models.
    #[default]
    Budget,
    /// As the model sees fit, steered by an effort: the newer models.
    Adaptive,
}

/// One model behind the Messages API.
pub(crate) struct AnthropicChat {
    pub(crate) endpoint: Endpoint,
    pub(crate) model: String,
    pub(crate) thinking: Thinking,
    /// Whether the system prompt is marked as worth caching where its caller marks nothing.
    pub(crate) caches_system_prompt: bool,
    /// The length of an answer whose caller named none, because the protocol demands one.
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

/// What is told of a text to go on with, which has no place in this protocol.
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
