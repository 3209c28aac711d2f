//! OpenAI's Responses API: requests passed through or translated, responses and streams.
//!
//! A request of the same protocol is sent byte for byte, with only the model's id replaced, and its
//! events are attached unchanged to the chunks. Any other chat is translated in both directions.

mod answer;
mod input;
mod item_decoder;
mod items;
mod logprobs;
mod native;
mod reasoning_details;
mod request;
mod response_failure;
mod stream;
mod tools;
mod usage;

use std::sync::Arc;

use engine::{
    ChatAnswer, ChatEngine, ChatRequest, ChatStream, EngineError, NativeProtocol, NativeRequest,
    TimeoutPhase,
};
use futures_util::future::BoxFuture;
use tokio::time::{Instant, timeout_at};

pub(crate) use answer::read_response;
pub(crate) use request::ResponsesEncoder;
pub(crate) use stream::ResponseDecoder;

use crate::event_stream;
use crate::single_chunk_stream;
use crate::transport::{UpstreamEndpoint, bad_answer, is_json, read_whole};

/// One model behind the Responses API.
pub(crate) struct ResponsesChat {
    pub(crate) endpoint: UpstreamEndpoint,
    pub(crate) model: String,
    /// The model returns encrypted reasoning. Other models reject requests that ask for it.
    pub(crate) has_reasoning: bool,
    /// The smallest `max_output_tokens` that the server accepts.
    pub(crate) output_tokens_min: u64,
}

impl ChatEngine for ResponsesChat {
    fn complete_chat(
        &self,
        request: Arc<ChatRequest>,
    ) -> BoxFuture<'_, Result<ChatAnswer, EngineError>> {
        Box::pin(async move {
            if let Some(native) = native_request(&request) {
                let endpoint = native::add_headers(&self.endpoint, native)?;
                let body = native::write_body(native, &self.model)?;
                return native::read_response(&endpoint.post_json(body).await?);
            }
            let body = self.encoder().encode_whole(&request)?;
            read_response(&self.endpoint.post_json(body).await?)
        })
    }

    fn stream_chat(
        &self,
        request: Arc<ChatRequest>,
    ) -> BoxFuture<'_, Result<ChatStream, EngineError>> {
        Box::pin(async move {
            if let Some(native) = native_request(&request) {
                let endpoint = native::add_headers(&self.endpoint, native)?;
                let body = native::write_body(native, &self.model)?;
                return open_stream(&endpoint, body, ResponseDecoder::passing_events()).await;
            }
            let body = self.encoder().encode_streamed(&request)?;
            open_stream(&self.endpoint, body, ResponseDecoder::default()).await
        })
    }

    fn dropped_fields(&self, request: &ChatRequest) -> Vec<String> {
        match native_request(request) {
            Some(_) => Vec::new(),
            None => request::list_dropped_fields(request),
        }
    }

    fn passes_through(&self, protocol: NativeProtocol) -> bool {
        protocol == NativeProtocol::Responses
    }

    fn supports_text_completion(&self) -> bool {
        false
    }
}

impl ResponsesChat {
    fn encoder(&self) -> ResponsesEncoder<'_> {
        ResponsesEncoder {
            model: &self.model,
            has_reasoning: self.has_reasoning,
            output_tokens_min: self.output_tokens_min,
        }
    }
}

/// The caller's request, if it is one of this protocol.
fn native_request(request: &ChatRequest) -> Option<&NativeRequest> {
    request.native.as_deref().filter(|native| native.protocol == NativeProtocol::Responses)
}

async fn open_stream(
    endpoint: &UpstreamEndpoint,
    body: Vec<u8>,
    decoder: ResponseDecoder,
) -> Result<ChatStream, EngineError> {
    let deadline = Instant::now() + endpoint.timeouts.first_event;
    let answer = endpoint.open(body, deadline).await?;
    if !is_json(&answer) {
        return event_stream::start_stream(answer, decoder, endpoint.timeouts, deadline).await;
    }
    // Some servers ignore `stream` for some models, and some send errors this way.
    let Ok(body) = timeout_at(deadline, read_whole(answer)).await else {
        return Err(EngineError::Timeout { phase: TimeoutPhase::FirstEvent });
    };
    let answer = read_response(&body?)?;
    if decoder.passes_events() {
        return Err(bad_answer("it is not a stream of events"));
    }
    Ok(single_chunk_stream::as_stream(answer))
}
