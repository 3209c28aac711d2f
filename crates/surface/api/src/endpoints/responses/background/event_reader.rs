//! Streams the events of a background response: those that are stored, then those that come. Only
//! events that are durable are sent, so that a client can go on after any of them.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use http_frame::app::SharedApp;
use http_frame::event_stream::{EventStreamBody, KEEP_ALIVE, push_json};
use http_frame::refusal::Refusal;
use serde_json::{Value, json};
use store::model_response::{ResponseRecord, ResponseState};
use tokio::time::{Instant, sleep, timeout};

use super::sealed_events::open_events;
use crate::endpoints::responses::stored::read;
use crate::endpoints::responses::stored::seal::ContentKey;

/// Interval of looking for events that another process may have stored.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Batches of events that are read at once.
const BATCHES_MAX: usize = 64;

/// One client that reads the events of a response.
struct EventReader {
    app: SharedApp,
    record: ResponseRecord,
    /// The number of the last event that was sent.
    after: Option<u64>,
    last_sent: Instant,
    is_over: bool,
}

/// The events of a response with numbers above `after`, to its end.
pub(in crate::endpoints::responses) fn stream_events(
    app: &SharedApp,
    record: &ResponseRecord,
    after: Option<u64>,
) -> EventStreamBody {
    let reader = EventReader {
        app: Arc::clone(app),
        record: record.clone(),
        after,
        last_sent: Instant::now(),
        is_over: false,
    };
    let events = stream::unfold(reader, async |mut reader| {
        let sent = reader.next_events().await?;
        Some((sent, reader))
    });
    EventStreamBody::from_body(Body::from_stream(events))
}

impl EventReader {
    async fn next_events(&mut self) -> Option<Result<Bytes, std::io::Error>> {
        while !self.is_over {
            // Subscribed before the store is read, so that no step is missed.
            let steps = self.app.background.watch(self.record.id);
            let mut events = Vec::new();
            if let Err(refusal) = self.read_stored(&mut events).await {
                // The connection breaks off, and the client goes on after its last event.
                return Some(Err(std::io::Error::other(format!("{refusal:?}"))));
            }
            if self.is_over || !events.is_empty() {
                self.last_sent = Instant::now();
                return Some(Ok(events.into()));
            }
            if KEEP_ALIVE <= self.last_sent.elapsed() {
                self.last_sent = Instant::now();
                return Some(Ok(Bytes::from_static(b": keep-alive\n\n")));
            }
            match steps {
                Some(mut steps) => {
                    let _ = timeout(LOOK_EVERY, steps.changed()).await;
                }
                None => sleep(LOOK_EVERY).await,
            }
        }
        None
    }

    /// Writes the stored events that were not sent, and the end of a response that has ended.
    async fn read_stored(&mut self, events: &mut Vec<u8>) -> Result<(), Refusal> {
        let (id, owner) = (self.record.id, self.record.owner);
        let found = self.app.store.find_response(owner, id).await.map_err(Refusal::unavailable)?;
        let Some(found) = found else {
            self.is_over = true;
            push_json(
                events,
                &json!({ "type": "error", "code": "response_deleted",
                "message": "The response was deleted.", "param": null, "sequence_number": 0 }),
            );
            return Ok(());
        };
        let Some(key) = found.record.key.map(ContentKey) else { return Ok(()) };
        let stored = self.app.store.response_events(id, self.after, BATCHES_MAX).await;
        let stored = stored.map_err(Refusal::unavailable)?;
        let is_all = stored.len() < BATCHES_MAX;
        for sealed in stored {
            for event in open_events(key, id, &sealed)? {
                let number = event["sequence_number"].as_u64();
                if self.after < number {
                    push_event(&event, events);
                    self.after = number;
                }
            }
        }
        if is_all && !found.record.state.is_open() {
            self.is_over = true;
            // The last event is not stored: it is the response itself.
            let number = found.record.events;
            if self.after.is_none_or(|after| after < number) {
                let response = read::open_response(&found)?;
                let kind = end_kind(found.record.state);
                let event =
                    json!({ "type": kind, "sequence_number": number, "response": response });
                push_event(&event, events);
            }
            events.extend_from_slice(b"data: [DONE]\n\n");
        }
        Ok(())
    }
}

fn push_event(event: &Value, events: &mut Vec<u8>) {
    let kind = event["type"].as_str().unwrap_or_default();
    events.extend_from_slice(format!("event: {kind}\n").as_bytes());
    push_json(events, event);
}

fn end_kind(state: ResponseState) -> &'static str {
    match state {
        ResponseState::Completed => "response.completed",
        ResponseState::Incomplete => "response.incomplete",
        ResponseState::Cancelled => "response.cancelled",
        ResponseState::Failed | ResponseState::Queued | ResponseState::InProgress => {
            "response.failed"
        }
    }
}
