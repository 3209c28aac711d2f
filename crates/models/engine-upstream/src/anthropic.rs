//! Anthropic's Messages API: requests, responses and streams.

mod answer;
mod blocks;
mod deltas;
mod native_stream;
mod pass_through;
mod reasoning_details;
mod request;
mod stream;
mod turns;
mod usage;

use std::sync::Arc;

use engine::{
    ChatAnswer, ChatEngine, ChatRequest, ChatStream, EngineError, NativeProtocol, NativeRequest,
};
use futures_util::future::BoxFuture;
use tokio::time::Instant;

pub(crate) use answer::read_message;
use native_stream::NativeMessageDecoder;
pub(crate) use request::MessageEncoder;
pub(crate) use stream::MessageDecoder;

use crate::event_stream;
use crate::transport::UpstreamEndpoint;

/// The supported protocol version.
pub(crate) const VERSION: &str = "2023-06-01";

/// The way a model is asked to think.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ThinkingStyle {
    /// By a token budget: older models.
    #[default]
    Budget,
    /// Adaptively, controlled by an effort: newer models.
    Adaptive,
}

/// One model behind the Messages API.
pub(crate) struct AnthropicChat {
    pub(crate) endpoint: UpstreamEndpoint,
    pub(crate) model: String,
    pub(crate) thinking: ThinkingStyle,
    /// Marks the system prompt for caching if the caller marks nothing.
    pub(crate) caches_system_prompt: bool,
    /// Length limit of an answer if the caller gives none, because the protocol requires one.
    pub(crate) completion_tokens_max: u64,
}

impl ChatEngine for AnthropicChat {
    fn complete_chat(
        &self,
        request: Arc<ChatRequest>,
    ) -> BoxFuture<'_, Result<ChatAnswer, EngineError>> {
        Box::pin(async move {
            if let Some(native) = pass_through::find_messages_request(&request) {
                let body = pass_through::encode_body(native, &self.model)?;
                let endpoint = pass_through::add_headers(&self.endpoint, native);
                return answer::read_native_message(&endpoint.post_json(body).await?);
            }
            let body = self.message_encoder().encode_whole(&request)?;
            read_message(&self.endpoint.post_json(body).await?)
        })
    }

    fn stream_chat(
        &self,
        request: Arc<ChatRequest>,
    ) -> BoxFuture<'_, Result<ChatStream, EngineError>> {
        Box::pin(async move {
            if let Some(native) = pass_through::find_messages_request(&request) {
                return self.stream_native(native).await;
            }
            let body = self.message_encoder().encode_streamed(&request)?;
            let deadline = Instant::now() + self.endpoint.timeouts.first_event;
            let answer = self.endpoint.open(body, deadline).await?;
            event_stream::start_stream(
                answer,
                MessageDecoder::default(),
                self.endpoint.timeouts,
                deadline,
            )
            .await
        })
    }

    fn dropped_fields(&self, request: &ChatRequest) -> Vec<String> {
        match pass_through::find_messages_request(request) {
            Some(_) => Vec::new(),
            None => request::list_dropped_fields(request),
        }
    }

    fn passes_through(&self, protocol: NativeProtocol) -> bool {
        protocol == NativeProtocol::Messages
    }

    fn supports_text_completion(&self) -> bool {
        false
    }
}

/// The error for a text completion, which this protocol does not support.
pub(crate) fn chat_only_error() -> EngineError {
    request::reject_request("This model supports chats only; use /chat/completions")
}

impl AnthropicChat {
    /// Streams the answer to the caller's own request, whose body asks for a stream.
    async fn stream_native(&self, native: &NativeRequest) -> Result<ChatStream, EngineError> {
        let body = pass_through::encode_body(native, &self.model)?;
        let endpoint = pass_through::add_headers(&self.endpoint, native);
        let deadline = Instant::now() + endpoint.timeouts.first_event;
        let answer = endpoint.open(body, deadline).await?;
        let decoder = NativeMessageDecoder::new();
        event_stream::start_stream(answer, decoder, endpoint.timeouts, deadline).await
    }

    fn message_encoder(&self) -> MessageEncoder<'_> {
        MessageEncoder {
            model: &self.model,
            thinking: self.thinking,
            caches_system_prompt: self.caches_system_prompt,
            completion_tokens_max: self.completion_tokens_max,
        }
    }
}
