//! Decodes chunks of a streamed text completion.

use std::collections::{BTreeMap, VecDeque};

use engine::{ChatChunk, ChatEvent, ChoiceDelta, EngineError, EngineUsage};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::usage;
use crate::event_stream::{EventDecoder, StreamState};
use crate::failure::UpstreamFailure;
use crate::finish;
use crate::transport::bad_answer;

/// More choices than any server gives; a larger index is an error.
const CHOICES_MAX: u32 = 128;

/// Tracks one stream to ensure that every choice ends.
pub(crate) struct TextDecoder {
    choices_wanted: usize,
    /// The server sent `[DONE]`.
    is_done: bool,
    is_named: bool,
    /// The choices so far; true if finished.
    choices: BTreeMap<u32, bool>,
    usage: Option<EngineUsage>,
}

impl TextDecoder {
    pub(crate) fn new(choices_wanted: u32) -> TextDecoder {
        TextDecoder {
            choices_wanted: usize::try_from(choices_wanted).unwrap_or(usize::MAX),
            is_done: false,
            is_named: false,
            choices: BTreeMap::new(),
            usage: None,
        }
    }

    fn decode_delta(&mut self, body: TextChunkChoice) -> Result<ChoiceDelta, EngineError> {
        if CHOICES_MAX <= body.index {
            return Err(bad_answer(format!("a chunk has a choice number {}", body.index)));
        }
        let finish = match body.finish_reason {
            Some(word) => Some(finish::parse_finish_reason(&word, false)?),
            None => None,
        };
        let opens = !self.choices.contains_key(&body.index);
        *self.choices.entry(body.index).or_default() |= finish.is_some();
        Ok(ChoiceDelta {
            index: body.index,
            opens,
            content: body.text.unwrap_or_default(),
            logprobs: body.logprobs,
            finish,
            ..ChoiceDelta::default()
        })
    }

    fn goes_on(&self) -> bool {
        self.choices.values().any(|is_finished| !is_finished)
    }
}

impl EventDecoder for TextDecoder {
    fn decode_event(
        &mut self,
        data: &str,
        ready: &mut VecDeque<ChatEvent>,
    ) -> Result<StreamState, EngineError> {
        if data.trim_end() == "[DONE]" {
            self.is_done = true;
            return Ok(StreamState::Over);
        }
        let chunk: ChunkBody = serde_json::from_str(data)
            .map_err(|error| bad_answer(format!("an event is not a chunk: {error}")))?;
        if chunk.error.is_some() || chunk.object.as_deref() == Some("error") {
            let value: Value = serde_json::from_str(data).unwrap_or_default();
            return Err(UpstreamFailure::from_value(&value).into_error());
        }
        if let Some(id) = chunk.id.filter(|id| !self.is_named && !id.is_empty()) {
            self.is_named = true;
            ready.push_back(ChatEvent::UpstreamId(id));
        }
        let mut deltas = Vec::new();
        for choice in chunk.choices.unwrap_or_default() {
            deltas.push(self.decode_delta(choice)?);
        }
        if !deltas.is_empty() {
            ready.push_back(ChatEvent::Chunk(ChatChunk { deltas, ..ChatChunk::default() }));
        }
        if let Some(usage) = chunk.usage.as_deref().and_then(usage::read_usage) {
            self.usage = Some(usage);
            // Usage before the end is only a count so far.
            if self.goes_on() {
                ready.push_back(ChatEvent::Progress(usage));
            }
        }
        Ok(StreamState::GoesOn)
    }

    fn finish_answer(&mut self, ready: &mut VecDeque<ChatEvent>) -> Result<(), EngineError> {
        if self.choices.is_empty() {
            return Err(bad_answer("it ended before anything was produced"));
        }
        // A server that does not support `n` sends one choice and `[DONE]`.
        let is_short = !self.is_done && self.choices.len() < self.choices_wanted;
        if is_short || self.goes_on() {
            return Err(bad_answer("it ended before it was complete"));
        }
        ready.extend(self.usage.take().map(ChatEvent::Usage));
        Ok(())
    }
}

#[derive(Deserialize)]
struct ChunkBody {
    id: Option<String>,
    object: Option<String>,
    choices: Option<Vec<TextChunkChoice>>,
    usage: Option<Box<RawValue>>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct TextChunkChoice {
    #[serde(default)]
    index: u32,
    text: Option<String>,
    finish_reason: Option<String>,
    logprobs: Option<Box<RawValue>>,
}
