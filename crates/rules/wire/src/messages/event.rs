//! The events of a streamed message.

use serde::Serialize;

use super::{MessageBlockReply, MessageReply, MessageStopReason, MessagesFault, MessagesUsage};

/// One event. Its name in the stream is its `type`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MessageEvent<'a> {
    MessageStart { message: &'a MessageReply },
    Ping {},
    ContentBlockStart { index: usize, content_block: &'a MessageBlockReply },
    ContentBlockDelta { index: usize, delta: BlockDelta<'a> },
    ContentBlockStop { index: usize },
    MessageDelta { delta: MessageEnd, usage: &'a MessagesUsage },
    MessageStop {},
    Error { error: &'a MessagesFault, request_id: &'a str },
}

impl MessageEvent<'_> {
    /// The event's name.
    pub fn name(&self) -> &'static str {
        match self {
            MessageEvent::MessageStart { .. } => "message_start",
            MessageEvent::Ping {} => "ping",
            MessageEvent::ContentBlockStart { .. } => "content_block_start",
            MessageEvent::ContentBlockDelta { .. } => "content_block_delta",
            MessageEvent::ContentBlockStop { .. } => "content_block_stop",
            MessageEvent::MessageDelta { .. } => "message_delta",
            MessageEvent::MessageStop {} => "message_stop",
            MessageEvent::Error { .. } => "error",
        }
    }
}

/// New content of the open block.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BlockDelta<'a> {
    TextDelta { text: &'a str },
    ThinkingDelta { thinking: &'a str },
    SignatureDelta { signature: &'a str },
    InputJsonDelta { partial_json: &'a str },
}

/// The way in which a message ended.
#[derive(Debug, Serialize)]
pub struct MessageEnd {
    pub stop_reason: MessageStopReason,
    pub stop_sequence: Option<String>,
}
