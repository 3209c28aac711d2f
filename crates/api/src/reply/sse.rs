//! Answers that come as server-sent events while they are being made.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;

use super::{Answer, Reply, respond};
use crate::operation::Operation;
use crate::paid_chat::{Flow, Step};
use crate::refusal::Refusal;

/// Proxies and clients give up on a connection that is silent for longer than some tens of seconds.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(15);
const COMMENT: &[u8] = b": keep-alive\n\n";

/// An answer that is whole, or a stream.
pub(crate) enum Told<T> {
    Whole(Answer<T>),
    Stream(Answer<Events>),
}

/// The body of a stream.
pub(crate) struct Events(Body);

/// Turns the steps of an answer into the events that one API's clients read.
pub(crate) trait Teller: Send + 'static {
    /// Appends events. The steps end with `Done` or `Failed`, and so must the events.
    fn tell(&mut self, step: Step, events: &mut Vec<u8>);
}

impl Events {
    pub(crate) fn of(flow: Flow, teller: impl Teller) -> Events {
        let telling = Telling { flow, teller, is_over: false };
        let events = stream::unfold(telling, |mut telling| async move {
            let events = telling.next().await?;
            Some((Ok::<Bytes, std::convert::Infallible>(events), telling))
        });
        Events(Body::from_stream(events))
    }
}

/// Appends one event with JSON in it.
pub(crate) fn push_json(events: &mut Vec<u8>, json: &impl Serialize) {
    let start = events.len();
    events.extend_from_slice(b"data: ");
    match serde_json::to_writer(&mut *events, json) {
        Ok(()) => events.extend_from_slice(b"\n\n"),
        Err(error) => {
            events.truncate(start);
            tracing::error!(%error, "an event could not be written: {error}");
        }
    }
}

struct Telling<T> {
    flow: Flow,
    teller: T,
    is_over: bool,
}

impl<T: Teller> Telling<T> {
    async fn next(&mut self) -> Option<Bytes> {
        if self.is_over {
            return None;
        }
        let mut events = Vec::new();
        while events.is_empty() && !self.is_over {
            match tokio::time::timeout(KEEP_ALIVE, self.flow.next()).await {
                Ok(step) => self.tell(step, &mut events),
                Err(_) => return Some(Bytes::from_static(COMMENT)),
            }
            // What has come meanwhile goes out in the same write.
            while !self.is_over {
                let Some(step) = self.flow.ready() else { break };
                self.tell(step, &mut events);
            }
        }
        Some(events.into())
    }

    fn tell(&mut self, step: Step, events: &mut Vec<u8>) {
        self.is_over = matches!(step, Step::Done(_) | Step::Failed(_));
        self.teller.tell(step, events);
    }
}

impl<T: Serialize + JsonSchema + Send> Reply for Told<T> {
    fn into_response(self) -> Result<Response, Refusal> {
        let answer = match self {
            Told::Whole(answer) => return answer.into_response(),
            Told::Stream(answer) => answer,
        };
        let Events(body) = answer.body;
        let mut response = respond(body, answer.headers, "text/event-stream");
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        // Tells nginx and its relatives to pass each event on as it comes.
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        Ok(response)
    }

    fn describe(operation: &mut Operation, generator: &mut SchemaGenerator) {
        operation.reply::<T>(generator);
        operation.text_reply("text/event-stream");
    }
}

#[cfg(test)]
mod tests;
