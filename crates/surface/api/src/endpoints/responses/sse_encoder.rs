//! Encodes a streamed response as the numbered events of the Responses API.

use std::collections::BTreeMap;

use engine::{ChatChunk, ChoiceDelta, FinishReason, ToolCallDelta};
use http_frame::event_stream::SseEncoder;
use http_frame::paid_chat::{AnswerPart, ChatSettlement};
use http_frame::refusal::inference::InferenceFailure;
use wire::responses::{ItemStatus, Response, ResponseError, ResponseStatus};

use super::event_writer::EventWriter;
use super::item::{OutputItemKind, OutputItemState};
use super::native_events::NativeEventWriter;
use super::reasoning_seal::{DetailGatherer, TurnReasoning};
use super::reply::{ResponseHead, last_status};
use super::tool_table::CallForm;
use crate::endpoints::chat::think_filter::ThoughtFilter;

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
    /// Signed or encrypted blocks of the reasoning in progress.
    details: DetailGatherer,
    signature: Option<String>,
    /// Set if the engine gets the request as it is: the events of its answer are forwarded.
    native: Option<NativeEventWriter>,
}

impl ResponseSseEncoder {
    /// `is_native` is true if the engine gets the request as it is.
    pub(super) fn new(frame: ResponseHead, is_native: bool) -> ResponseSseEncoder {
        let filter = frame.strips_thoughts.then(ThoughtFilter::default);
        ResponseSseEncoder {
            frame,
            script: EventWriter::default(),
            is_begun: false,
            items: Vec::new(),
            calls: BTreeMap::new(),
            filter,
            finish: FinishReason::Stop,
            details: DetailGatherer::default(),
            signature: None,
            native: is_native.then(NativeEventWriter::default),
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
            if !self.frame.strips_thoughts {
                self.write_reasoning(&delta, events);
            }
            let ChoiceDelta { content, refusal, tool_calls, finish, .. } = delta;
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

    /// Writes reasoning. Blocks without readable text open an item only for callers that send them
    /// back.
    fn write_reasoning(&mut self, delta: &ChoiceDelta, events: &mut Vec<u8>) {
        self.write_text(OutputItemKind::Reasoning, &delta.reasoning, events);
        if self.frame.sealer.is_none() {
            return;
        }
        if let Some(details) = &delta.reasoning_details {
            self.find_open(&OutputItemKind::Reasoning, events);
            self.details.push(details);
        }
        self.signature = delta.thought_signature.clone().or(self.signature.take());
    }

    fn write_text(&mut self, kind: OutputItemKind, text: &str, events: &mut Vec<u8>) {
        if text.is_empty() {
            return;
        }
        let index = self.find_open(&kind, events);
        self.items[index].text.push_str(text);
        self.script.write_delta(&self.items[index], index, text, events);
    }

    /// The item in progress of this kind, or a new one.
    fn find_open(&mut self, kind: &OutputItemKind, events: &mut Vec<u8>) -> usize {
        let goes_on =
            |item: &OutputItemState| item.kind == *kind && item.status == ItemStatus::InProgress;
        match self.items.iter().position(goes_on) {
            Some(index) => index,
            None => self.open(kind.clone(), events),
        }
    }

    fn write_call(&mut self, call: ToolCallDelta, events: &mut Vec<u8>) {
        let index = match self.calls.get(&call.index) {
            Some(index) => *index,
            None => {
                let call_id = call.id.unwrap_or_else(|| format!("call_{}", call.index));
                let tool = self.frame.call_names.find(&call.name);
                let index = self.open(OutputItemKind::Call { call_id, tool }, events);
                self.calls.insert(call.index, index);
                index
            }
        };
        let item = &mut self.items[index];
        item.text.push_str(&call.arguments);
        let OutputItemKind::Call { tool, .. } = &item.kind else { return };
        let added = match tool.form {
            CallForm::Custom => item.input.push(&call.arguments),
            CallForm::Function | CallForm::ToolSearch => call.arguments,
        };
        if !added.is_empty() {
            self.script.write_delta(&self.items[index], index, &added, events);
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
        if item.status != ItemStatus::InProgress {
            return;
        }
        item.status = status;
        if item.kind == OutputItemKind::Reasoning {
            let (text, details) = (item.text.clone(), self.details.take());
            let signature = self.signature.take();
            item.sealed = self.frame.seal_reasoning(&TurnReasoning { text, details, signature });
        }
        self.script.write_item_done(item, index, events);
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
        let error = ResponseError { code: fault.code, message: fault.message };
        self.encode_error(error, events);
    }

    /// Ends the response with an error.
    fn encode_error(&mut self, error: ResponseError, events: &mut Vec<u8>) {
        for item in &mut self.items {
            if item.status == ItemStatus::InProgress {
                item.status = ItemStatus::Incomplete;
            }
        }
        let output = self.items.iter().map(OutputItemState::to_output_item).collect();
        let failed = self.frame.build_response(ResponseStatus::Failed, output);
        let response = Response { error: Some(error), ..failed };
        match self.native.as_mut().filter(|native| native.has_begun()) {
            Some(native) => native.write_failed(response.error.as_ref(), events),
            None => {
                self.encode_start(events);
                self.script.write_response("response.failed", &response, events);
            }
        }
    }

    /// Forwards a part of an answer in its own protocol. Returns the part if it is in no such form.
    fn encode_native(&mut self, part: AnswerPart, events: &mut Vec<u8>) -> Option<AnswerPart> {
        let native = self.native.as_mut()?;
        match part {
            AnswerPart::Chunk(ChatChunk { native: Some(event), .. }) => {
                native.forward(event, &self.frame.model, events);
                None
            }
            AnswerPart::Opened(..) => None,
            AnswerPart::Chunk(_) if native.has_begun() => None,
            AnswerPart::Done(settled) if native.has_begun() => {
                native.write_end(settled.usage, events);
                None
            }
            part @ (AnswerPart::Chunk(_) | AnswerPart::Done(_)) => {
                // The answer came translated after all.
                self.native = None;
                Some(part)
            }
            part @ AnswerPart::Failed(_) => Some(part),
        }
    }
}

/// The events of a response that failed before its model was asked.
pub(super) fn encode_refusal(frame: ResponseHead, error: ResponseError) -> Vec<u8> {
    let mut events = Vec::new();
    ResponseSseEncoder::new(frame, false).encode_error(error, &mut events);
    events
}

impl SseEncoder for ResponseSseEncoder {
    fn encode(&mut self, part: AnswerPart, events: &mut Vec<u8>) {
        if let AnswerPart::Opened(model, _) = &part {
            self.frame.model.clone_from(&model.id);
        }
        let part = match self.native {
            Some(_) => self.encode_native(part, events),
            None => Some(part),
        };
        let Some(part) = part else { return };
        if let AnswerPart::Failed(failure) = part {
            return self.encode_failure(failure, events);
        }
        self.encode_start(events);
        match part {
            AnswerPart::Opened(..) | AnswerPart::Failed(_) => {}
            AnswerPart::Chunk(chunk) => self.encode_chunk(chunk, events),
            AnswerPart::Done(settled) => self.encode_end(&settled, events),
        }
    }

    /// Some clients measure silence by events and ignore comments.
    fn encode_keep_alive(&mut self, events: &mut Vec<u8>) {
        if let Some(native) = &mut self.native {
            return native.write_keep_alive(events);
        }
        if !self.is_begun {
            return self.encode_start(events);
        }
        let output = self.items.iter().filter(|item| item.status != ItemStatus::InProgress);
        let output = output.map(OutputItemState::to_output_item).collect();
        let response = self.frame.build_response(ResponseStatus::InProgress, output);
        self.script.write_response("response.in_progress", &response, events);
    }
}

#[cfg(test)]
mod tests;
