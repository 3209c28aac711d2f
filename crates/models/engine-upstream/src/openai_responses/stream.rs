//! Decodes a streamed response of the Responses API, event by event.

use std::borrow::Cow;
use std::collections::VecDeque;

use engine::{
    ChatChunk, ChatEvent, ChoiceDelta, EngineError, EngineUsage, FinishReason, NativeEvent,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::answer::ResponseBody;
use super::item_decoder::{ItemDecoder, ItemFragment};
use super::items::ResponseItemBody;
use super::{native, response_failure};
use crate::event_stream::{EventDecoder, StreamState};
use crate::transport::bad_answer;

/// Events before the first output that are held back.
const PREAMBLE_EVENTS_MAX: usize = 16;

#[derive(Default)]
pub(crate) struct ResponseDecoder {
    /// True if each event is also kept for the caller.
    is_passing: bool,
    /// Events before the first output. They are held back, because a response that fails before
    /// any output can still be requested from another engine.
    preamble: Vec<NativeEvent>,
    upstream_id: Option<String>,
    has_begun: bool,
    /// True after the first delta of the choice.
    is_open: bool,
    is_finished: bool,
    items: ItemDecoder,
    usage: Option<EngineUsage>,
}

/// The members of an event, each parsed only when needed.
#[derive(Deserialize)]
struct ResponseEventBody<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    output_index: Option<u32>,
    content_index: Option<u32>,
    summary_index: Option<u32>,
    #[serde(borrow)]
    delta: Option<&'a RawValue>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
    #[serde(borrow)]
    logprobs: Option<&'a RawValue>,
}

/// The kind of text that an event with a `delta` adds to.
enum DeltaTextKind {
    Content,
    Refusal,
    Reasoning,
    /// Arguments of a function or the input of a custom tool.
    Arguments,
}

impl DeltaTextKind {
    /// `None` for parts, annotations, tools that the provider runs, and unknown events.
    fn from_event(kind: &str) -> Option<DeltaTextKind> {
        match kind {
            "response.output_text.delta" => Some(DeltaTextKind::Content),
            "response.refusal.delta" => Some(DeltaTextKind::Refusal),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                Some(DeltaTextKind::Reasoning)
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                Some(DeltaTextKind::Arguments)
            }
            _ => None,
        }
    }
}

impl EventDecoder for ResponseDecoder {
    fn decode_event(
        &mut self,
        data: &str,
        ready: &mut VecDeque<ChatEvent>,
    ) -> Result<StreamState, EngineError> {
        if data.trim_end() == "[DONE]" {
            return Ok(StreamState::Over);
        }
        let event: ResponseEventBody<'_> = parse_json(data)?;
        let kept =
            if self.is_passing { Some(native::keep_event(&event.r#type, data)?) } else { None };
        match &*event.r#type {
            "response.created" | "response.in_progress" | "response.queued" if !self.has_begun => {
                self.hold_back(&event, kept)?;
                if self.preamble.len() < PREAMBLE_EVENTS_MAX {
                    return Ok(StreamState::GoesOn);
                }
                self.release_preamble(ready);
            }
            "response.completed" | "response.incomplete" => {
                let deltas = self.finish_response(&event)?;
                self.release_preamble(ready);
                self.push_deltas(deltas, kept, ready);
                return Ok(StreamState::Over);
            }
            "response.failed" => return Err(self.fail_response(&event, ready)?),
            "error" => return Err(response_failure::read_error(&parse_json(data)?)),
            _ => {
                let delta = self.decode_delta(&event)?;
                self.release_preamble(ready);
                self.push_deltas(delta.into_iter().collect(), kept, ready);
            }
        }
        Ok(StreamState::GoesOn)
    }

    fn finish_answer(&mut self, ready: &mut VecDeque<ChatEvent>) -> Result<(), EngineError> {
        if !self.is_finished {
            return Err(bad_answer("it ended before it was complete"));
        }
        ready.extend(self.usage.take().map(ChatEvent::Usage));
        Ok(())
    }
}

impl ResponseDecoder {
    /// A decoder that also attaches each event, unchanged, to its chunk.
    pub(crate) fn passing_events() -> ResponseDecoder {
        ResponseDecoder { is_passing: true, ..ResponseDecoder::default() }
    }

    pub(super) fn passes_events(&self) -> bool {
        self.is_passing
    }

    fn hold_back(
        &mut self,
        event: &ResponseEventBody<'_>,
        kept: Option<NativeEvent>,
    ) -> Result<(), EngineError> {
        self.preamble.extend(kept);
        if self.upstream_id.is_none() {
            let response: Option<ResponseBody> = event.response.map(parse_raw).transpose()?;
            self.upstream_id = response.and_then(|it| it.id).filter(|id| !id.is_empty());
        }
        Ok(())
    }

    fn release_preamble(&mut self, ready: &mut VecDeque<ChatEvent>) {
        if std::mem::replace(&mut self.has_begun, true) {
            return;
        }
        ready.extend(self.upstream_id.take().map(ChatEvent::UpstreamId));
        let preamble = std::mem::take(&mut self.preamble).into_iter();
        ready.extend(preamble.map(|kept| build_chunk(Vec::new(), Some(kept))));
    }

    fn decode_delta(
        &mut self,
        event: &ResponseEventBody<'_>,
    ) -> Result<Option<ChoiceDelta>, EngineError> {
        let index = event.output_index.unwrap_or(0);
        let kind = &*event.r#type;
        if let "response.output_item.added" | "response.output_item.done" = kind {
            let Some(item) = event.item else { return Ok(None) };
            let item: ResponseItemBody = parse_raw(item)?;
            return match kind {
                "response.output_item.added" => self.items.begin_item(index, item),
                _ => self.items.end_item(index, item),
            };
        }
        let Some(text) = DeltaTextKind::from_event(kind) else { return Ok(None) };
        let fragment: Option<String> = event.delta.map(parse_raw).transpose()?;
        let Some(fragment) = fragment.filter(|fragment| !fragment.is_empty()) else {
            return Ok(None);
        };
        let fragment = ItemFragment { index, text: fragment };
        match text {
            DeltaTextKind::Content => {
                let logprobs: Option<Value> = event.logprobs.map(parse_raw).transpose()?;
                self.items.add_text(fragment, logprobs.as_ref()).map(Some)
            }
            DeltaTextKind::Refusal => self.items.add_refusal(fragment).map(Some),
            DeltaTextKind::Reasoning => {
                let part = event.summary_index.or(event.content_index).unwrap_or(0);
                self.items.add_reasoning(fragment, part).map(Some)
            }
            DeltaTextKind::Arguments => self.items.add_arguments(fragment),
        }
    }

    /// Returns the delta with the finish reason, after the output of a server that sent no items.
    fn finish_response(
        &mut self,
        event: &ResponseEventBody<'_>,
    ) -> Result<Vec<ChoiceDelta>, EngineError> {
        let Some(response) = event.response else {
            return Err(bad_answer("its last event has no response"));
        };
        let end = parse_raw::<ResponseBody>(response)?.read_end()?;
        if !self.has_begun && self.upstream_id.is_none() {
            self.upstream_id = end.id;
        }
        let mut deltas = Vec::new();
        if self.items.is_empty() {
            for (item, index) in end.output.into_iter().zip(0..) {
                deltas.extend(self.items.end_item(index, item)?);
            }
        }
        let whole =
            if self.items.has_calls() { FinishReason::ToolCalls } else { FinishReason::Stop };
        let finish = Some(end.cut.unwrap_or(whole));
        deltas.push(ChoiceDelta { finish, ..ChoiceDelta::default() });
        self.is_finished = true;
        self.usage = end.usage;
        Ok(deltas)
    }

    /// Returns the error of a failed response. Its usage counts only after some output.
    fn fail_response(
        &self,
        event: &ResponseEventBody<'_>,
        ready: &mut VecDeque<ChatEvent>,
    ) -> Result<EngineError, EngineError> {
        let response: Option<ResponseBody> = event.response.map(parse_raw).transpose()?;
        let Some(response) = response else {
            return Ok(bad_answer("it failed without an error"));
        };
        let usage = response.usage().filter(|_| self.is_open);
        ready.extend(usage.map(ChatEvent::Progress));
        Ok(match &response.error {
            Some(error) => response_failure::read_error(error),
            None => bad_answer("it failed without an error"),
        })
    }

    /// A passed event is one chunk with all of its deltas. Otherwise each delta is a chunk, because
    /// clients expect a choice once in a chunk.
    fn push_deltas(
        &mut self,
        mut deltas: Vec<ChoiceDelta>,
        kept: Option<NativeEvent>,
        ready: &mut VecDeque<ChatEvent>,
    ) {
        if let Some(first) = deltas.first_mut() {
            first.opens = !std::mem::replace(&mut self.is_open, true);
        }
        if kept.is_some() {
            ready.push_back(build_chunk(deltas, kept));
        } else {
            ready.extend(deltas.into_iter().map(|delta| build_chunk(vec![delta], None)));
        }
    }
}

fn build_chunk(deltas: Vec<ChoiceDelta>, native: Option<NativeEvent>) -> ChatEvent {
    ChatEvent::Chunk(ChatChunk { deltas, verbatim: None, native })
}

fn parse_raw<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Result<T, EngineError> {
    parse_json(raw.get())
}

fn parse_json<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, EngineError> {
    serde_json::from_str(json)
        .map_err(|error| bad_answer(format!("an event is malformed: {error}")))
}
