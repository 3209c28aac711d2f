//! Decodes a streamed message of the Messages API, block by block.

use std::collections::{BTreeMap, VecDeque};

use engine::{ChatChunk, ChatEvent, ChoiceDelta, EngineError, EngineUsage, FinishReason};
use serde::Deserialize;
use serde_json::Value;

use super::answer::BlockBody;
use super::deltas::{
    build_arguments_delta, build_call_delta, build_content_delta, build_reasoning_delta,
    build_thought_delta,
};
use super::reasoning_details::ReasoningEntry;
use super::usage::AnthropicTokenCounts;
use crate::event_stream::{EventDecoder, StreamState};
use crate::failure::UpstreamFailure;
use crate::finish;
use crate::sse::EVENT_BYTES_MAX;
use crate::transport::bad_answer;

/// More concurrently open blocks than any message has.
const BLOCKS_MAX: usize = 1024;

#[derive(Default)]
pub(crate) struct MessageDecoder {
    has_begun: bool,
    is_finished: bool,
    /// Started and not yet stopped blocks, by index.
    blocks: BTreeMap<u32, OpenBlock>,
    calls: u32,
    thoughts: u32,
    counts: AnthropicTokenCounts,
    /// True if a reason to stop that means an interrupted answer is no failure.
    is_tolerant: bool,
}

enum OpenBlock {
    Text,
    /// Buffered until complete, because a client must send it back in one piece.
    Thinking {
        text: String,
        signature: String,
    },
    Tool {
        call: u32,
        has_arguments: bool,
    },
    Ignored,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum EventBody {
    MessageStart {
        message: StartBody,
    },
    ContentBlockStart {
        index: u32,
        content_block: BlockBody,
    },
    ContentBlockDelta {
        index: u32,
        delta: DeltaBody,
    },
    ContentBlockStop {
        index: u32,
    },
    MessageDelta {
        delta: EndBody,
        usage: Option<AnthropicTokenCounts>,
    },
    MessageStop,
    Error {
        error: Value,
    },
    /// Pings and unknown events.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct StartBody {
    id: Option<String>,
    usage: Option<AnthropicTokenCounts>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum DeltaBody {
    TextDelta {
        text: String,
    },
    ThinkingDelta {
        thinking: String,
    },
    SignatureDelta {
        signature: String,
    },
    InputJsonDelta {
        partial_json: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct EndBody {
    stop_reason: Option<String>,
    stop_sequence: Option<String>,
}

impl EventDecoder for MessageDecoder {
    fn decode_event(
        &mut self,
        data: &str,
        ready: &mut VecDeque<ChatEvent>,
    ) -> Result<StreamState, EngineError> {
        let body: EventBody = serde_json::from_str(data)
            .map_err(|error| bad_answer(format!("an event is malformed: {error}")))?;
        match body {
            EventBody::MessageStart { message } => self.begin(message, ready),
            EventBody::ContentBlockStart { index, content_block } => {
                ready.extend(self.open(index, content_block)?);
            }
            EventBody::ContentBlockDelta { index, delta } => {
                ready.extend(self.append_delta(index, delta)?);
            }
            EventBody::ContentBlockStop { index } => ready.extend(self.close(index)),
            EventBody::MessageDelta { delta, usage } => {
                self.counts.update(usage.unwrap_or_default());
                ready.extend(self.finish(delta)?);
            }
            EventBody::MessageStop => return Ok(StreamState::Over),
            EventBody::Error { error } => {
                return Err(UpstreamFailure::from_anthropic_value(&error).into_error());
            }
            EventBody::Other => {}
        }
        Ok(StreamState::GoesOn)
    }

    fn finish_answer(&mut self, ready: &mut VecDeque<ChatEvent>) -> Result<(), EngineError> {
        if !self.is_finished {
            return Err(bad_answer("it ended before it was complete"));
        }
        ready.extend(self.counts.to_usage().map(ChatEvent::Usage));
        Ok(())
    }
}

impl MessageDecoder {
    /// A decoder for streams that are passed through.
    pub(super) fn tolerant() -> MessageDecoder {
        MessageDecoder { is_tolerant: true, ..MessageDecoder::default() }
    }

    /// The tokens reported so far.
    pub(super) fn counted_usage(&self) -> Option<EngineUsage> {
        self.counts.to_usage()
    }

    fn begin(&mut self, message: StartBody, ready: &mut VecDeque<ChatEvent>) {
        ready.extend(message.id.map(ChatEvent::UpstreamId));
        self.counts.update(message.usage.unwrap_or_default());
        ready.push_back(self.build_chunk(ChoiceDelta::default()));
        ready.extend(self.counts.to_usage().map(ChatEvent::Progress));
    }

    fn open(&mut self, index: u32, block: BlockBody) -> Result<Option<ChatEvent>, EngineError> {
        if BLOCKS_MAX <= self.blocks.len() {
            return Err(bad_answer(format!("it has more than {BLOCKS_MAX} blocks at once")));
        }
        let (opened, delta) = match block {
            BlockBody::Text { text } => (OpenBlock::Text, build_content_delta(text)),
            BlockBody::Thinking { thinking, signature } => {
                let delta = build_reasoning_delta(thinking.clone());
                (OpenBlock::Thinking { text: thinking, signature }, delta)
            }
            BlockBody::RedactedThinking { data } => {
                let thought = ReasoningEntry::with_encrypted_data(data, self.next_thought());
                (OpenBlock::Ignored, build_thought_delta(thought))
            }
            BlockBody::ToolUse { id, name, .. } => {
                let call = self.calls;
                self.calls += 1;
                (OpenBlock::Tool { call, has_arguments: false }, build_call_delta(call, id, name))
            }
            BlockBody::Other => (OpenBlock::Ignored, None),
        };
        self.blocks.insert(index, opened);
        Ok(delta.map(|delta| self.build_chunk(delta)))
    }

    fn append_delta(
        &mut self,
        index: u32,
        delta: DeltaBody,
    ) -> Result<Option<ChatEvent>, EngineError> {
        let Some(block) = self.blocks.get_mut(&index) else {
            return Err(bad_answer(format!("block {index} grows before it begins")));
        };
        let delta = match (block, delta) {
            (OpenBlock::Text, DeltaBody::TextDelta { text }) => build_content_delta(text),
            (OpenBlock::Thinking { text, .. }, DeltaBody::ThinkingDelta { thinking }) => {
                append_bounded(text, &thinking)?;
                build_reasoning_delta(thinking)
            }
            (
                OpenBlock::Thinking { signature, .. },
                DeltaBody::SignatureDelta { signature: more },
            ) => {
                append_bounded(signature, &more)?;
                None
            }
            (
                OpenBlock::Tool { call, has_arguments },
                DeltaBody::InputJsonDelta { partial_json },
            ) => {
                *has_arguments |= !partial_json.is_empty();
                build_arguments_delta(*call, partial_json)
            }
            _ => None,
        };
        Ok(delta.map(|delta| self.build_chunk(delta)))
    }

    fn close(&mut self, index: u32) -> Option<ChatEvent> {
        let delta = match self.blocks.remove(&index)? {
            OpenBlock::Thinking { text, signature } if !signature.is_empty() => {
                let index = self.next_thought();
                build_thought_delta(ReasoningEntry::with_signature(text, signature, index))
            }
            // A call without arguments sends no fragment, and clients cannot parse an empty string.
            OpenBlock::Tool { call, has_arguments: false } => {
                build_arguments_delta(call, "{}".to_owned())
            }
            OpenBlock::Text
            | OpenBlock::Thinking { .. }
            | OpenBlock::Tool { .. }
            | OpenBlock::Ignored => None,
        };
        delta.map(|delta| self.build_chunk(delta))
    }

    fn finish(&mut self, end: EndBody) -> Result<Option<ChatEvent>, EngineError> {
        let Some(word) = end.stop_reason else { return Ok(None) };
        if std::mem::replace(&mut self.is_finished, true) {
            return Ok(None);
        }
        let finish = match finish::parse_finish_reason(&word, 0 < self.calls) {
            Err(_) if self.is_tolerant => FinishReason::Stop,
            parsed => parsed?,
        };
        let (finish, stop_match) = (Some(finish), end.stop_sequence);
        Ok(Some(self.build_chunk(ChoiceDelta { finish, stop_match, ..ChoiceDelta::default() })))
    }

    fn next_thought(&mut self) -> u32 {
        self.thoughts += 1;
        self.thoughts - 1
    }

    fn build_chunk(&mut self, delta: ChoiceDelta) -> ChatEvent {
        let opens = !std::mem::replace(&mut self.has_begun, true);
        let deltas = vec![ChoiceDelta { opens, ..delta }];
        ChatEvent::Chunk(ChatChunk { deltas, ..ChatChunk::default() })
    }
}

/// A thinking block is buffered whole, so it has the same limit as an event.
fn append_bounded(text: &mut String, more: &str) -> Result<(), EngineError> {
    if EVENT_BYTES_MAX < text.len() + more.len() {
        return Err(bad_answer(format!("a thought is longer than {EVENT_BYTES_MAX} bytes")));
    }
    text.push_str(more);
    Ok(())
}
