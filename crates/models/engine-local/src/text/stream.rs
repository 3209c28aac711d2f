//! Streamed completions as server-sent events.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use engine_text::{GenerationEvent, TextGeneration, TextModel};
use futures_util::stream;
use serde_json::{Value, json};

use super::full_response::{call_body, finish_word};
use super::{CompletionEndpoint, CompletionEnvelope, UsageTotals, logprobs};
use crate::refusal::EngineRefusal;

/// Holds the model until the stream ends, so that it is not unloaded.
pub(super) fn stream_response(
    head: CompletionEnvelope,
    generation: TextGeneration,
    model: Arc<TextModel>,
) -> Response {
    let teller = CompletionEventEncoder {
        head,
        generation,
        _model: model,
        calls: HashMap::new(),
        begun: Vec::new(),
        open: 0,
        tally: UsageTotals::default(),
        is_over: false,
    };
    let events = stream::unfold(teller, |mut teller| async move {
        let bytes = teller.next().await?;
        Some((Ok::<Bytes, Infallible>(bytes), teller))
    });
    let mut response = Body::from_stream(events).into_response();
    let kind = HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

struct CompletionEventEncoder {
    head: CompletionEnvelope,
    generation: TextGeneration,
    _model: Arc<TextModel>,
    /// Number of tool calls per choice.
    calls: HashMap<u32, usize>,
    /// Choices whose first chunk was sent.
    begun: Vec<u32>,
    /// Number of choices that have begun and not finished.
    open: usize,
    tally: UsageTotals,
    is_over: bool,
}

impl CompletionEventEncoder {
    /// The next bytes to send; `None` after the end.
    async fn next(&mut self) -> Option<Bytes> {
        if self.is_over {
            return None;
        }
        let text = match self.generation.next().await {
            Some(GenerationEvent::Failed { cause }) => self.encode_failure(cause),
            Some(event) => self.encode_event(event),
            None if self.begun.is_empty() || 0 < self.open => {
                self.encode_failure("The model failed in the middle of its answer.".to_owned())
            }
            None => self.encode_end(),
        };
        Some(Bytes::from(text))
    }

    fn encode_event(&mut self, event: GenerationEvent) -> String {
        match event {
            GenerationEvent::Text { choice, text, logprobs } => {
                let logprobs = logprobs::encode_logprobs(self.head.shape, &logprobs);
                let body = json!({"finish_reason": null, "logprobs": logprobs});
                self.encode_chunk(choice, json!({"content": text}), body)
            }
            GenerationEvent::ToolCall { choice, name, arguments } => {
                let call = self.calls.entry(choice).or_default();
                let mut body = call_body(self.head.call_id(choice, *call), &name, &arguments);
                body["index"] = (*call).into();
                *call += 1;
                let plain = json!({"finish_reason": null, "logprobs": null});
                self.encode_chunk(choice, json!({"tool_calls": [body]}), plain)
            }
            GenerationEvent::Finished { choice, finish, stop_match, usage } => {
                self.tally.add(usage);
                let mut body = json!({"finish_reason": finish_word(finish), "logprobs": null});
                if let Some(stop) = stop_match {
                    body["stop_reason"] = stop.into();
                }
                let chunk = self.encode_chunk(choice, json!({}), body);
                self.open = self.open.saturating_sub(1);
                chunk
            }
            GenerationEvent::Failed { cause } => self.encode_failure(cause),
        }
    }

    /// Writes a chunk with one choice, whose other members are in `body`.
    fn encode_chunk(&mut self, choice: u32, mut delta: Value, mut body: Value) -> String {
        if !self.begun.contains(&choice) {
            self.begun.push(choice);
            self.open += 1;
            delta["role"] = "assistant".into();
        }
        body["index"] = choice.into();
        match self.head.shape {
            CompletionEndpoint::Chat => body["delta"] = delta,
            CompletionEndpoint::Text => {
                body["text"] = delta.get("content").cloned().unwrap_or_else(|| "".into())
            }
        }
        format_event(&self.head.body(self.object(), json!([body])))
    }

    /// The usage comes last, in a chunk without choices.
    fn encode_end(&mut self) -> String {
        self.is_over = true;
        let mut body = self.head.body(self.object(), json!([]));
        body["usage"] = self.tally.body();
        format!("{}data: [DONE]\n\n", format_event(&body))
    }

    /// Ends without `[DONE]`, so that the client detects the incomplete answer.
    fn encode_failure(&mut self, cause: String) -> String {
        self.is_over = true;
        format_event(&EngineRefusal::engine_failure(cause).body())
    }

    fn object(&self) -> &'static str {
        match self.head.shape {
            CompletionEndpoint::Chat => "chat.completion.chunk",
            CompletionEndpoint::Text => "text_completion",
        }
    }
}

fn format_event(body: &Value) -> String {
    format!("data: {body}\n\n")
}
