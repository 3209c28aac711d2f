//! Streamed completions as server-sent events.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use engine_text::{Event, Generation, TextModel};
use futures_util::stream;
use serde_json::{Value, json};

use super::whole::{call_body, finish_word};
use super::{Head, Shape, Tally, logprobs};
use crate::refusal::Refusal;

/// Holds the model until the stream ends, so that it is not unloaded.
pub(super) fn respond(head: Head, generation: Generation, model: Arc<TextModel>) -> Response {
    let teller = Teller {
        head,
        generation,
        _model: model,
        calls: HashMap::new(),
        begun: Vec::new(),
        open: 0,
        tally: Tally::default(),
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

struct Teller {
    head: Head,
    generation: Generation,
    _model: Arc<TextModel>,
    /// Number of tool calls per choice.
    calls: HashMap<u32, usize>,
    /// Choices whose first chunk was sent.
    begun: Vec<u32>,
    /// Number of choices that have begun and not finished.
    open: usize,
    tally: Tally,
    is_over: bool,
}

impl Teller {
    /// The next bytes to send; `None` after the end.
    async fn next(&mut self) -> Option<Bytes> {
        if self.is_over {
            return None;
        }
        let text = match self.generation.next().await {
            Some(Event::Failed { cause }) => self.broken(cause),
            Some(event) => self.tell(event),
            None if self.begun.is_empty() || 0 < self.open => {
                self.broken("The model stopped in the middle of its answer.".to_owned())
            }
            None => self.end(),
        };
        Some(Bytes::from(text))
    }

    fn tell(&mut self, event: Event) -> String {
        match event {
            Event::Text { choice, text, logprobs } => {
                let logprobs = logprobs::body(self.head.shape, &logprobs);
                self.chunk(choice, json!({"content": text}), &Value::Null, &logprobs)
            }
            Event::ToolCall { choice, name, arguments } => {
                let call = self.calls.entry(choice).or_default();
                let mut body = call_body(self.head.call_id(choice, *call), &name, &arguments);
                body["index"] = (*call).into();
                *call += 1;
                self.chunk(choice, json!({"tool_calls": [body]}), &Value::Null, &Value::Null)
            }
            Event::Finished { choice, finish, usage } => {
                self.tally.add(usage);
                let finish = finish_word(finish).into();
                let chunk = self.chunk(choice, json!({}), &finish, &Value::Null);
                self.open = self.open.saturating_sub(1);
                chunk
            }
            Event::Failed { cause } => self.broken(cause),
        }
    }

    fn chunk(&mut self, choice: u32, delta: Value, finish: &Value, logprobs: &Value) -> String {
        let mut delta = delta;
        if !self.begun.contains(&choice) {
            self.begun.push(choice);
            self.open += 1;
            delta["role"] = "assistant".into();
        }
        let mut body = json!({"index": choice, "finish_reason": finish, "logprobs": logprobs});
        match self.head.shape {
            Shape::Chat => body["delta"] = delta,
            Shape::Text => {
                body["text"] = delta.get("content").cloned().unwrap_or_else(|| "".into())
            }
        }
        event(&self.head.body(self.object(), json!([body])))
    }

    /// The usage comes last, in a chunk without choices.
    fn end(&mut self) -> String {
        self.is_over = true;
        let mut body = self.head.body(self.object(), json!([]));
        body["usage"] = self.tally.body();
        format!("{}data: [DONE]\n\n", event(&body))
    }

    /// Ends without `[DONE]`, so that the client detects the incomplete answer.
    fn broken(&mut self, cause: String) -> String {
        self.is_over = true;
        event(&Refusal::failed(cause).body())
    }

    fn object(&self) -> &'static str {
        match self.head.shape {
            Shape::Chat => "chat.completion.chunk",
            Shape::Text => "text_completion",
        }
    }
}

fn event(body: &Value) -> String {
    format!("data: {body}\n\n")
}
