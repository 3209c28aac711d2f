//! Encodes a streamed response as the numbered events of the Responses API.

use std::collections::BTreeMap;

use engine::{ChatChunk, ChoiceDelta, FinishReason, ToolCallDelta};
use wire::responses::{
    EventBody, ItemStatus, Response, ResponseError, ResponseEvent, ResponseStatus,
};

use super::item::{OutputItemKind, OutputItemState};
use super::reply::{ResponseHead, last_status};
use crate::endpoints::chat::think_filter::ThoughtFilter;
use crate::paid_chat::{AnswerPart, ChatSettlement};
use crate::refusal::inference::InferenceFailure;
use crate::reply::sse::{SseEncoder, push_json};

pub(super) struct ResponseSseEncoder {
    frame: ResponseHead,
    script: EventWriter,
    is_begun: bool,
    /// By output index.
    items: Vec<OutputItemState>,
    /// Output index of each call, by the engine's index.
    calls: BTreeMap<u32, usize>,
    /// Set if `<think>` blocks are removed from the text.
    filter: Option<ThoughtFilter>,
    finish: FinishReason,
}

impl ResponseSseEncoder {
    pub(super) fn new(frame: ResponseHead) -> ResponseSseEncoder {
        let filter = frame.strips_thoughts.then(ThoughtFilter::default);
        ResponseSseEncoder {
            frame,
            script: EventWriter::default(),
            is_begun: false,
            items: Vec::new(),
            calls: BTreeMap::new(),
            filter,
            finish: FinishReason::Stop,
        }
    }

    fn encode_start(&mut self, events: &mut Vec<u8>) {
        if std::mem::replace(&mut self.is_begun, true) {
            return;
        }
        let response = self.frame.build_response(ResponseStatus::InProgress, Vec::new());
        self.script.write_response("response.created", &response, events);
        self.script.write_response("response.in_progress", &response, events);
        // The search was made before the model was called, so it is already complete.
        if let Some(query) = self.frame.query.clone() {
            let index = self.open(OutputItemKind::Search, events);
            self.items[index].text = query;
            self.close(index, ItemStatus::Completed, events);
        }
    }

    fn encode_chunk(&mut self, chunk: ChatChunk, events: &mut Vec<u8>) {
        // The request has one choice.
        for delta in chunk.deltas.into_iter().filter(|delta| delta.index == 0) {
            let ChoiceDelta { reasoning, content, refusal, tool_calls, finish, .. } = delta;
            if !self.frame.strips_thoughts {
                self.write_text(OutputItemKind::Reasoning, &reasoning, events);
            }
            let content = match &mut self.filter {
                Some(filter) => filter.push(&content),
                None => content,
            };
            self.write_text(OutputItemKind::Text, &content, events);
            self.write_text(OutputItemKind::Refusal, &refusal, events);
            for call in tool_calls {
                self.write_call(call, events);
            }
            self.finish = finish.unwrap_or(self.finish);
        }
    }

    fn write_text(&mut self, kind: OutputItemKind, text: &str, events: &mut Vec<u8>) {
        if text.is_empty() {
            return;
        }
        let goes_on =
            |item: &OutputItemState| item.kind == kind && item.status == ItemStatus::InProgress;
        let index = match self.items.iter().position(goes_on) {
            Some(index) => index,
            None => self.open(kind, events),
        };
        self.items[index].text.push_str(text);
        self.script.write_delta(&self.items[index], index, text, events);
    }

    fn write_call(&mut self, call: ToolCallDelta, events: &mut Vec<u8>) {
        let index = match self.calls.get(&call.index) {
            Some(index) => *index,
            None => {
                let call_id = call.id.unwrap_or_else(|| format!("call_{}", call.index));
                let index = self.open(OutputItemKind::Call { call_id, name: call.name }, events);
                self.calls.insert(call.index, index);
                index
            }
        };
        if !call.arguments.is_empty() {
            self.items[index].text.push_str(&call.arguments);
            self.script.write_delta(&self.items[index], index, &call.arguments, events);
        }
    }

    /// Opens an item, and closes those before it. Calls stay open, because deltas of several calls
    /// may be interleaved.
    fn open(&mut self, kind: OutputItemKind, events: &mut Vec<u8>) -> usize {
        for index in 0..self.items.len() {
            if !matches!(self.items[index].kind, OutputItemKind::Call { .. }) {
                self.close(index, ItemStatus::Completed, events);
            }
        }
        let index = self.items.len();
        let item = self.frame.build_item(index, kind, ItemStatus::InProgress);
        self.script.write_item_added(&item, index, events);
        self.items.push(item);
        index
    }

    fn close(&mut self, index: usize, status: ItemStatus, events: &mut Vec<u8>) {
        let item = &mut self.items[index];
        if item.status == ItemStatus::InProgress {
            item.status = status;
            self.script.write_item_done(item, index, events);
        }
    }

    fn encode_end(&mut self, settled: &ChatSettlement, events: &mut Vec<u8>) {
        // Text kept back as the possible start of a tag.
        let rest = self.filter.as_mut().map(ThoughtFilter::finish).unwrap_or_default();
        self.write_text(OutputItemKind::Text, &rest, events);
        for index in 0..self.items.len() {
            self.close(index, last_status(self.finish), events);
        }
        let output = self.items.iter().map(OutputItemState::to_output_item).collect();
        let response = self.frame.build_final_response(self.finish, output, settled.usage);
        let kind = match response.status {
            ResponseStatus::Incomplete => "response.incomplete",
            _ => "response.completed",
        };
        self.script.write_response(kind, &response, events);
        events.extend_from_slice(b"data: [DONE]\n\n");
    }

    fn encode_failure(&mut self, failure: InferenceFailure, events: &mut Vec<u8>) {
        let fault = failure.into_event(&self.frame.request_id).error;
        for item in &mut self.items {
            if item.status == ItemStatus::InProgress {
                item.status = ItemStatus::Incomplete;
            }
        }
        let output = self.items.iter().map(OutputItemState::to_output_item).collect();
        let error = Some(ResponseError { code: fault.code, message: fault.message });
        let response =
            Response { error, ..self.frame.build_response(ResponseStatus::Failed, output) };
        self.script.write_response("response.failed", &response, events);
    }
}

impl SseEncoder for ResponseSseEncoder {
    fn encode(&mut self, part: AnswerPart, events: &mut Vec<u8>) {
        if let AnswerPart::Opened(model, _) = &part {
            self.frame.model.clone_from(&model.id);
        }
        self.encode_start(events);
        match part {
            AnswerPart::Opened(..) => {}
            AnswerPart::Chunk(chunk) => self.encode_chunk(chunk, events),
            AnswerPart::Done(settled) => self.encode_end(&settled, events),
            AnswerPart::Failed(failure) => self.encode_failure(failure, events),
        }
    }
}

/// Writes events with sequence numbers.
#[derive(Default)]
struct EventWriter {
    next: u64,
}

/// The events of a search, in order.
const SEARCHED: [&str; 3] = [
    "response.web_search_call.in_progress",
    "response.web_search_call.searching",
    "response.web_search_call.completed",
];
/// Every message has exactly one part.
const CONTENT_INDEX: usize = 0;

impl EventWriter {
    fn write_response(&mut self, kind: &'static str, response: &Response, events: &mut Vec<u8>) {
        self.push_event(kind, EventBody::Response { response }, events);
    }

    fn write_item_added(
        &mut self,
        item: &OutputItemState,
        output_index: usize,
        events: &mut Vec<u8>,
    ) {
        let body = EventBody::Item { output_index, item: &item.to_output_item() };
        self.push_event("response.output_item.added", body, events);
        self.write_part("response.content_part.added", item, output_index, events);
    }

    fn write_delta(
        &mut self,
        item: &OutputItemState,
        output_index: usize,
        delta: &str,
        events: &mut Vec<u8>,
    ) {
        let item_id = &item.id;
        let in_message =
            EventBody::TextDelta { item_id, output_index, content_index: CONTENT_INDEX, delta };
        let alone = EventBody::Delta { item_id, output_index, delta };
        match &item.kind {
            OutputItemKind::Search => {}
            OutputItemKind::Reasoning => self.push_event("response.reasoning.delta", alone, events),
            OutputItemKind::Call { .. } => {
                self.push_event("response.function_call_arguments.delta", alone, events);
            }
            OutputItemKind::Text => {
                self.push_event("response.output_text.delta", in_message, events)
            }
            OutputItemKind::Refusal => {
                self.push_event("response.refusal.delta", in_message, events)
            }
        }
    }

    fn write_item_done(
        &mut self,
        item: &OutputItemState,
        output_index: usize,
        events: &mut Vec<u8>,
    ) {
        let (item_id, text, content_index) = (&item.id, item.text.as_str(), CONTENT_INDEX);
        match &item.kind {
            OutputItemKind::Reasoning => {}
            OutputItemKind::Search => {
                for kind in SEARCHED {
                    self.push_event(kind, EventBody::Search { item_id, output_index }, events);
                }
            }
            OutputItemKind::Call { name, .. } => {
                let body =
                    EventBody::ArgumentsDone { item_id, output_index, name, arguments: text };
                self.push_event("response.function_call_arguments.done", body, events);
            }
            OutputItemKind::Text => {
                let body = EventBody::TextDone { item_id, output_index, content_index, text };
                self.push_event("response.output_text.done", body, events);
            }
            OutputItemKind::Refusal => {
                let body =
                    EventBody::RefusalDone { item_id, output_index, content_index, refusal: text };
                self.push_event("response.refusal.done", body, events);
            }
        }
        self.write_part("response.content_part.done", item, output_index, events);
        let body = EventBody::Item { output_index, item: &item.to_output_item() };
        self.push_event("response.output_item.done", body, events);
    }

    fn write_part(
        &mut self,
        kind: &'static str,
        item: &OutputItemState,
        output_index: usize,
        events: &mut Vec<u8>,
    ) {
        let Some(part) = &item.to_output_part() else { return };
        let item_id = &item.id;
        let body = EventBody::Part { item_id, output_index, content_index: CONTENT_INDEX, part };
        self.push_event(kind, body, events);
    }

    fn push_event(&mut self, kind: &'static str, body: EventBody<'_>, events: &mut Vec<u8>) {
        let event = ResponseEvent { kind, sequence_number: self.next, body };
        self.next += 1;
        events.extend_from_slice(format!("event: {kind}\n").as_bytes());
        push_json(events, &event);
    }
}
