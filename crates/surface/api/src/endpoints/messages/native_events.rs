//! Forwards the events of a provider that speaks the same protocol.
//!
//! They stay unchanged, but for the model's id. The events that end the message wait until its
//! charge is durable.

use engine::{ChatChunk, FinishReason, NativeEvent};
use http_frame::event_stream::push_parts;
use http_frame::paid_chat::ChatSettlement;
use serde_json::Value;
use serde_json::value::RawValue;
use wire::messages::{MessageEnd, MessageEvent, MessageStopReason};

use super::reply::MessageHead;
use super::sse_encoder::{push_end, push_event};

pub(super) struct NativeForwarder {
    model: String,
    is_begun: bool,
    /// The block that was started and not stopped.
    open: Option<usize>,
    /// The event with the stop reason.
    message_delta: Option<Box<RawValue>>,
    /// True if the service ended the answer at its bound.
    is_cut: bool,
}

impl NativeForwarder {
    pub(super) fn new(head: &MessageHead) -> NativeForwarder {
        NativeForwarder {
            model: head.model.clone(),
            is_begun: false,
            open: None,
            message_delta: None,
            is_cut: false,
        }
    }

    pub(super) fn is_begun(&self) -> bool {
        self.is_begun
    }

    /// Appends an event, or keeps it for the end.
    pub(super) fn forward_event(&mut self, event: NativeEvent, events: &mut Vec<u8>) {
        let NativeEvent { kind, data } = event;
        self.is_begun = true;
        match kind.as_str() {
            "message_start" => {
                let data = replace_model(&data, &["message"], &self.model).unwrap_or(data);
                push_native(&kind, &data, events);
            }
            "message_delta" => self.message_delta = Some(data),
            "message_stop" | "error" => {}
            "content_block_start" => {
                self.open = read_index(&data);
                push_native(&kind, &data, events);
            }
            "content_block_stop" => {
                self.open = None;
                push_native(&kind, &data, events);
            }
            _ => push_native(&kind, &data, events),
        }
    }

    /// Notes a chunk of our own: the answer was ended at its bound.
    pub(super) fn note_cut(&mut self, chunk: &ChatChunk) {
        self.is_cut |= chunk.deltas.iter().any(|delta| delta.finish == Some(FinishReason::Length));
    }

    /// Appends the events that end the message: the provider's own, or ours if it was cut.
    pub(super) fn forward_end(
        &mut self,
        head: &MessageHead,
        settled: &ChatSettlement,
        events: &mut Vec<u8>,
    ) {
        if let Some(index) = self.open.take() {
            push_event(&MessageEvent::ContentBlockStop { index }, events);
        }
        match self.message_delta.take().filter(|_| !self.is_cut) {
            Some(data) => {
                push_native("message_delta", &data, events);
                push_event(&MessageEvent::MessageStop {}, events);
            }
            None => {
                let stop_reason = if self.is_cut {
                    MessageStopReason::MaxTokens
                } else {
                    MessageStopReason::EndTurn
                };
                let end = MessageEnd { stop_reason, stop_sequence: None };
                push_end(head, end, settled, events);
            }
        }
    }
}

fn push_native(kind: &str, data: &RawValue, events: &mut Vec<u8>) {
    // A name with a line break would be an event of its own.
    let name: String = kind.chars().filter(|it| !it.is_control()).collect();
    events.extend_from_slice(format!("event: {name}\n").as_bytes());
    push_parts(events, [data.get().as_bytes(), b"", b""]);
}

fn read_index(data: &RawValue) -> Option<usize> {
    let data: Value = serde_json::from_str(data.get()).ok()?;
    data["index"].as_u64().and_then(|index| usize::try_from(index).ok())
}

/// The JSON with our id of the model in the object at `path`. None if there is no such object.
pub(super) fn replace_model(data: &RawValue, path: &[&str], model: &str) -> Option<Box<RawValue>> {
    let mut value: Value = serde_json::from_str(data.get()).ok()?;
    let mut object = &mut value;
    for step in path {
        object = object.get_mut(step)?;
    }
    *object.get_mut("model")? = Value::from(model);
    serde_json::value::to_raw_value(&value).ok()
}
