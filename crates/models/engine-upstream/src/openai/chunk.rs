//! Decodes chunks of a streamed chat completion as far as needed, and keeps their raw bytes for
//! forwarding if they need no change.

use std::collections::VecDeque;

use engine::{ChatChunk, ChatEvent, ChoiceDelta, EngineError, EngineUsage};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::delta::{ChoiceState, ChunkChoiceBody};
use super::usage;
use crate::event_stream::{EventDecoder, StreamState};
use crate::failure::UpstreamFailure;
use crate::transport::bad_answer;

/// More choices than any server gives; a larger index is an error.
const CHOICES_MAX: usize = 128;

/// Tracks one stream to ensure that every choice begins once and ends.
pub(crate) struct ChunkDecoder {
    choices_wanted: usize,
    /// The server sent `[DONE]`.
    is_done: bool,
    upstream_id: Option<String>,
    /// By index; `None` before the first delta.
    choices: Vec<Option<ChoiceState>>,
    /// The latest usage. Some servers send one with every chunk, so only the last is final.
    usage: Option<EngineUsage>,
}

impl ChunkDecoder {
    pub(crate) fn new(choices_wanted: u32) -> ChunkDecoder {
        ChunkDecoder {
            choices_wanted: usize::try_from(choices_wanted).unwrap_or(usize::MAX),
            is_done: false,
            upstream_id: None,
            choices: Vec::new(),
            usage: None,
        }
    }
}

impl EventDecoder for ChunkDecoder {
    fn decode_event(
        &mut self,
        data: &str,
        ready: &mut VecDeque<ChatEvent>,
    ) -> Result<StreamState, EngineError> {
        if data.trim_end() == "[DONE]" {
            self.is_done = true;
            return Ok(StreamState::Over);
        }
        let chunk: ChunkBody<'_> = serde_json::from_str(data)
            .map_err(|error| bad_answer(format!("an event is not a chunk: {error}")))?;
        let is_error = chunk.object.is_some_and(|object| object.get() == r#""error""#);
        if chunk.error.is_some() || is_error {
            let value: Value = serde_json::from_str(data).unwrap_or_default();
            return Err(UpstreamFailure::from_value(&value).into_error());
        }
        if self.upstream_id.is_none() {
            self.upstream_id = chunk.id.and_then(parse_id);
            ready.extend(self.upstream_id.clone().map(ChatEvent::UpstreamId));
        }
        let choices = match chunk.choices {
            Some(raw) => self.decode_choices(raw)?,
            None => None,
        };
        let usage =
            chunk.usage.and_then(usage::read_usage).or(choices.as_ref().and_then(|it| it.usage));
        ready.extend(choices.and_then(|it| it.chunk).map(ChatEvent::Chunk));
        self.record_usage(usage, ready);
        Ok(StreamState::GoesOn)
    }

    fn finish_answer(&mut self, ready: &mut VecDeque<ChatEvent>) -> Result<(), EngineError> {
        let begun = self.choices.iter().flatten().count();
        if begun == 0 {
            return Err(bad_answer("it ended before anything was produced"));
        }
        // A server that does not support `n` sends one choice and `[DONE]`.
        let is_short = !self.is_done && begun < self.choices_wanted;
        if is_short || self.goes_on() {
            return Err(bad_answer("it ended before it was complete"));
        }
        ready.extend(self.usage.take().map(ChatEvent::Usage));
        Ok(())
    }
}

/// The relevant members, each parsed only when needed.
#[derive(Deserialize)]
struct ChunkBody<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    object: Option<&'a RawValue>,
    #[serde(borrow)]
    choices: Option<&'a RawValue>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// The decoded choices of one chunk.
struct ChunkChoices {
    chunk: Option<ChatChunk>,
    /// Kimi sends the usage within the last choice.
    usage: Option<EngineUsage>,
}

impl ChunkDecoder {
    fn decode_choices(&mut self, raw: &RawValue) -> Result<Option<ChunkChoices>, EngineError> {
        let bodies: Option<Vec<ChunkChoiceBody<'_>>> = serde_json::from_str(raw.get())
            .map_err(|error| bad_answer(format!("a chunk has bad choices: {error}")))?;
        let bodies = bodies.unwrap_or_default();
        let mut is_verbatim = true;
        let mut usage = None;
        let mut deltas = Vec::with_capacity(bodies.len());
        for body in bodies {
            usage = body.usage.and_then(usage::read_usage).or(usage);
            let state = choice_state(&mut self.choices, body.index.unwrap_or(0))?;
            let mut delta = ChoiceDelta::default();
            is_verbatim &= state.decode_delta(body, self.upstream_id.as_deref(), &mut delta)?;
            deltas.push(delta);
        }
        let verbatim = is_verbatim.then(|| raw.to_owned());
        let chunk = (!deltas.is_empty()).then_some(ChatChunk { deltas, verbatim, native: None });
        Ok(Some(ChunkChoices { chunk, usage }))
    }

    /// Usage before the end is a count so far. It is forwarded at once, because it is the best
    /// count if the stream breaks afterwards.
    fn record_usage(&mut self, usage: Option<EngineUsage>, ready: &mut VecDeque<ChatEvent>) {
        let Some(usage) = usage else { return };
        self.usage = Some(usage);
        ready.push_back(ChatEvent::Progress(usage));
    }

    fn goes_on(&self) -> bool {
        self.choices.iter().flatten().any(|choice| !choice.is_finished)
    }
}

fn choice_state(
    choices: &mut Vec<Option<ChoiceState>>,
    index: u32,
) -> Result<&mut ChoiceState, EngineError> {
    let position = usize::try_from(index).unwrap_or(usize::MAX);
    if CHOICES_MAX <= position {
        return Err(bad_answer(format!("a chunk has a choice number {index}")));
    }
    if choices.len() <= position {
        choices.resize_with(position + 1, || None);
    }
    Ok(choices[position].get_or_insert_default())
}

/// Azure's first chunk has an empty id, which is ignored.
fn parse_id(id: &RawValue) -> Option<String> {
    serde_json::from_str::<String>(id.get()).ok().filter(|id| !id.is_empty())
}
