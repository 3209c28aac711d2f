//! Decodes a streamed message of the Messages API, block by block.

use std::collections::{BTreeMap, VecDeque};

use engine::{ChatChunk, ChatEvent, ChoiceDelta, EngineError};
use serde::Deserialize;
use serde_json::Value;

use super::answer::BlockBody;
use super::deltas::{arguments, called, content, reasoning, thoughts_of};
use super::thoughts::Thought;
use super::usage::Counts;
use crate::failure::Failure;
use crate::finish;
use crate::pump::{Decoder, Reading};
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
    counts: Counts,
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
        usage: Option<Counts>,
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
    usage: Option<Counts>,
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
}

impl Decoder for MessageDecoder {
    fn accept(
        &mut self,
        data: &str,
        ready: &mut VecDeque<ChatEvent>,
    ) -> Result<Reading, EngineError> {
        let body: EventBody = serde_json::from_str(data)
            .map_err(|error| bad_answer(format!("an event is malformed: {error}")))?;
        match body {
            EventBody::MessageStart { message } => self.begin(message, ready),
            EventBody::ContentBlockStart { index, content_block } => {
                ready.extend(self.open(index, content_block)?);
            }
            EventBody::ContentBlockDelta { index, delta } => {
                ready.extend(self.grow(index, delta)?);
            }
            EventBody::ContentBlockStop { index } => ready.extend(self.close(index)),
            EventBody::MessageDelta { delta, usage } => {
                self.counts.update(usage.unwrap_or_default());
                ready.extend(self.finish(delta.stop_reason.as_deref())?);
            }
            EventBody::MessageStop => return Ok(Reading::Over),
            EventBody::Error { error } => return Err(Failure::from_value(&error).into_error()),
            EventBody::Other => {}
        }
        Ok(Reading::GoesOn)
    }

    fn end(&mut self, ready: &mut VecDeque<ChatEvent>) -> Result<(), EngineError> {
        if !self.is_finished {
            return Err(bad_answer("it broke off before its end"));
        }
        ready.extend(self.counts.usage().map(ChatEvent::Usage));
        Ok(())
    }
}

impl MessageDecoder {
    fn begin(&mut self, message: StartBody, ready: &mut VecDeque<ChatEvent>) {
        ready.extend(message.id.map(ChatEvent::UpstreamId));
        self.counts.update(message.usage.unwrap_or_default());
        ready.push_back(self.chunk(ChoiceDelta::default()));
        ready.extend(self.counts.usage().map(ChatEvent::Progress));
    }

    fn open(&mut self, index: u32, block: BlockBody) -> Result<Option<ChatEvent>, EngineError> {
        if BLOCKS_MAX <= self.blocks.len() {
            return Err(bad_answer(format!("it has more than {BLOCKS_MAX} blocks at once")));
        }
        let (opened, delta) = match block {
            BlockBody::Text { text } => (OpenBlock::Text, content(text)),
            BlockBody::Thinking { thinking, signature } => {
                let delta = reasoning(thinking.clone());
                (OpenBlock::Thinking { text: thinking, signature }, delta)
            }
            BlockBody::RedactedThinking { data } => {
                let thought = Thought::encrypted(data, self.next_thought());
                (OpenBlock::Ignored, thoughts_of(thought))
            }
            BlockBody::ToolUse { id, name, .. } => {
                let call = self.calls;
                self.calls += 1;
                (OpenBlock::Tool { call, has_arguments: false }, called(call, id, name))
            }
            BlockBody::Other => (OpenBlock::Ignored, None),
        };
        self.blocks.insert(index, opened);
        Ok(delta.map(|delta| self.chunk(delta)))
    }

    fn grow(&mut self, index: u32, delta: DeltaBody) -> Result<Option<ChatEvent>, EngineError> {
        let Some(block) = self.blocks.get_mut(&index) else {
            return Err(bad_answer(format!("block {index} grows before it begins")));
        };
        let delta = match (block, delta) {
            (OpenBlock::Text, DeltaBody::TextDelta { text }) => content(text),
            (OpenBlock::Thinking { text, .. }, DeltaBody::ThinkingDelta { thinking }) => {
                keep(text, &thinking)?;
                reasoning(thinking)
            }
            (
                OpenBlock::Thinking { signature, .. },
                DeltaBody::SignatureDelta { signature: more },
            ) => {
                keep(signature, &more)?;
                None
            }
            (
                OpenBlock::Tool { call, has_arguments },
                DeltaBody::InputJsonDelta { partial_json },
            ) => {
                *has_arguments |= !partial_json.is_empty();
                arguments(*call, partial_json)
            }
            _ => None,
        };
        Ok(delta.map(|delta| self.chunk(delta)))
    }

    fn close(&mut self, index: u32) -> Option<ChatEvent> {
        let delta = match self.blocks.remove(&index)? {
            OpenBlock::Thinking { text, signature } if !signature.is_empty() => {
                let index = self.next_thought();
                thoughts_of(Thought::signed(text, signature, index))
            }
            // A call without arguments sends no fragment, and clients cannot parse an empty string.
            OpenBlock::Tool { call, has_arguments: false } => arguments(call, "{}".to_owned()),
            OpenBlock::Text
            | OpenBlock::Thinking { .. }
            | OpenBlock::Tool { .. }
            | OpenBlock::Ignored => None,
        };
        delta.map(|delta| self.chunk(delta))
    }

    fn finish(&mut self, stop_reason: Option<&str>) -> Result<Option<ChatEvent>, EngineError> {
        let Some(word) = stop_reason else { return Ok(None) };
        if std::mem::replace(&mut self.is_finished, true) {
            return Ok(None);
        }
        let finish = Some(finish::reason(word, 0 < self.calls)?);
        Ok(Some(self.chunk(ChoiceDelta { finish, ..ChoiceDelta::default() })))
    }

    fn next_thought(&mut self) -> u32 {
        self.thoughts += 1;
        self.thoughts - 1
    }

    fn chunk(&mut self, delta: ChoiceDelta) -> ChatEvent {
        let opens = !std::mem::replace(&mut self.has_begun, true);
        ChatEvent::Chunk(ChatChunk { deltas: vec![ChoiceDelta { opens, ..delta }], verbatim: None })
    }
}

/// A thinking block is buffered whole, so it has the same limit as an event.
fn keep(text: &mut String, more: &str) -> Result<(), EngineError> {
    if EVENT_BYTES_MAX < text.len() + more.len() {
        return Err(bad_answer(format!("a thought is longer than {EVENT_BYTES_MAX} bytes")));
    }
    text.push_str(more);
    Ok(())
}
