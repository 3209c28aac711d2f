//! Responses streamed as server-sent events.

use std::convert::Infallible;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use lanes::IdleTimer;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;

use crate::operation::OpenApiOperation;
use crate::paid_chat::{AnswerPart, AnswerStream};
use crate::refusal::Refusal;
use crate::reply::{HandlerReply, WithHeaders, build_response};

/// Proxies and clients close a connection that is silent for some tens of seconds.
pub const KEEP_ALIVE: Duration = Duration::from_secs(10);
const COMMENT: &[u8] = b": keep-alive\n\n";

/// A whole response, or a stream.
pub enum WholeOrStream<T> {
    Whole(WithHeaders<T>),
    Stream(WithHeaders<EventStreamBody>),
}

/// The body of a stream.
pub struct EventStreamBody(Body);

/// Encodes the parts of an answer as the events of one API.
pub trait SseEncoder: Send + 'static {
    /// Appends events. The last part is `Done` or `Failed`; its events must end the stream.
    fn encode(&mut self, part: AnswerPart, events: &mut Vec<u8>);

    /// Appends what keeps a silent stream open. Default: a comment.
    fn encode_keep_alive(&mut self, events: &mut Vec<u8>) {
        events.extend_from_slice(COMMENT);
    }
}

impl EventStreamBody {
    pub fn new(flow: AnswerStream, sse_encoder: impl SseEncoder) -> EventStreamBody {
        let idle_timer = IdleTimer::new(KEEP_ALIVE);
        let mut telling = SseStream { flow, sse_encoder, idle_timer, is_over: false };
        let events = stream::poll_fn(move |context| {
            telling.poll_next(context).map(|events| events.map(Ok::<Bytes, Infallible>))
        });
        EventStreamBody(Body::from_stream(events))
    }
}

impl EventStreamBody {
    /// A stream of another source.
    pub fn from_body(body: Body) -> EventStreamBody {
        EventStreamBody(body)
    }

    pub fn into_body(self) -> Body {
        self.0
    }

    /// A stream whose events are all known.
    pub fn from_events(events: Vec<u8>) -> EventStreamBody {
        EventStreamBody(Body::from(events))
    }
}

/// Appends one event with JSON in it.
pub fn push_json(events: &mut Vec<u8>, json: &impl Serialize) {
    let start = events.len();
    events.extend_from_slice(b"data: ");
    match serde_json::to_writer(&mut *events, json) {
        Ok(()) => end_event(events, start),
        Err(error) => {
            events.truncate(start);
            tracing::error!(%error, "an event could not be written: {error}");
        }
    }
}

/// Appends one event whose JSON is already serialised, in parts.
pub fn push_parts(events: &mut Vec<u8>, parts: [&[u8]; 3]) {
    let start = events.len();
    events.extend_from_slice(b"data: ");
    for part in parts {
        events.extend_from_slice(part);
    }
    end_event(events, start);
}

/// Ends an event. JSON forwarded from an engine may have line breaks, but an event is one line. In
/// JSON, a raw line break is only whitespace between tokens.
fn end_event(events: &mut Vec<u8>, start: usize) {
    for byte in &mut events[start..] {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    events.extend_from_slice(b"\n\n");
}

struct SseStream<T> {
    flow: AnswerStream,
    sse_encoder: T,
    idle_timer: IdleTimer,
    is_over: bool,
}

impl<T: SseEncoder> SseStream<T> {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        // All available events are sent in one write.
        let mut events = Vec::new();
        while !self.is_over
            && let Poll::Ready(part) = self.flow.poll_next(context)
        {
            self.encode(part, &mut events);
        }
        let is_silent = events.is_empty() && !self.is_over;
        if is_silent {
            ready!(self.idle_timer.poll_elapsed(context));
            self.sse_encoder.encode_keep_alive(&mut events);
        }
        self.idle_timer.reset();
        Poll::Ready(Some(events.into()))
    }

    fn encode(&mut self, part: AnswerPart, events: &mut Vec<u8>) {
        self.is_over = matches!(part, AnswerPart::Done(_) | AnswerPart::Failed(_));
        self.sse_encoder.encode(part, events);
    }
}

impl<T: Serialize + JsonSchema + Send> HandlerReply for WholeOrStream<T> {
    fn into_response(self) -> Result<Response, Refusal> {
        let answer = match self {
            WholeOrStream::Whole(answer) => return answer.into_response(),
            WholeOrStream::Stream(answer) => answer,
        };
        let EventStreamBody(body) = answer.body;
        let mut response = build_response(body, answer.headers, "text/event-stream");
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        // Tells nginx-like proxies not to buffer the events.
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        Ok(response)
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        operation.reply::<T>(generator);
        operation.text_reply("text/event-stream");
    }
}

#[cfg(test)]
mod tests;
