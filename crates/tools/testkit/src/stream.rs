//! A response that is read event by event, and can be aborted.

use axum::body::{Body, HttpBody};
use axum::http::HeaderMap;
use bytes::Bytes;
use http_body_util::BodyExt;
use serde_json::Value;

/// A response in progress. Dropping it closes the connection.
pub struct StreamReply {
    pub status: u16,
    pub headers: HeaderMap,
    body: Body,
    buffer: String,
}

impl StreamReply {
    pub(crate) fn new(status: u16, headers: HeaderMap, body: Body) -> StreamReply {
        StreamReply { status, headers, body, buffer: String::new() }
    }

    /// The data of the next event, or `None` at the end. Skips comments.
    pub async fn next(&mut self) -> Option<String> {
        loop {
            while let Some(end) = self.buffer.find("\n\n") {
                let event: String = self.buffer.drain(..end + 2).collect();
                if let Some(data) = event.lines().find_map(|line| line.strip_prefix("data: ")) {
                    return Some(data.to_owned());
                }
            }
            if self.body.is_end_stream() {
                return None;
            }
            let frame = self.body.frame().await?.unwrap();
            self.buffer.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
        }
    }

    /// The next bytes, or `None` at the end; an error if the body ends too early.
    pub async fn next_bytes(&mut self) -> Option<Result<Bytes, axum::Error>> {
        let frame = self.body.frame().await?;
        Some(frame.map(|frame| frame.into_data().unwrap_or_default()))
    }

    /// All bytes to the end, and true if the body ended properly.
    pub async fn remaining_bytes(&mut self) -> (Vec<u8>, bool) {
        let mut bytes = Vec::new();
        while let Some(next) = self.next_bytes().await {
            match next {
                Ok(more) => bytes.extend_from_slice(&more),
                Err(_) => return (bytes, false),
            }
        }
        (bytes, true)
    }

    /// All remaining events.
    pub async fn remaining_events(&mut self) -> Vec<String> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

/// The text of the first choice, over all chunks of a stream.
pub fn join_text(events: &[String]) -> String {
    let chunk = |event: &String| serde_json::from_str::<Value>(event).ok();
    let text = |chunk: Value| chunk["choices"][0]["delta"]["content"].as_str().map(str::to_owned);
    events.iter().filter_map(chunk).filter_map(text).collect()
}
