//! Encodes a streamed response as the numbered events of the Responses API.

use std::collections::BTreeMap;

use engine::{ChatChunk, ChoiceDelta, FinishReason, ToolCallDelta};
use http_frame::event_stream::SseEncoder;
use http_frame::paid_chat::{AnswerPart, ChatSettlement, ToolEvent};
use http_frame::refusal::inference::InferenceFailure;
use wire::responses::{ItemStatus, Response, ResponseError, ResponseStatus};

use super::event_writer::EventWriter;
use super::item::{OutputItemKind, OutputItemState};
use super::mcp_item::{McpItem, McpStartItem};
use super::native_events::NativeEventWriter;
use super::reasoning_seal::{DetailGatherer, TurnReasoning};
use super::reply::{ResponseHead, last_status};
use super::tool_table::{CallForm, DeclaredTool};
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
    /// Calls of MCP servers that wait for approval, by the engine's index.
    held: BTreeMap<u32, HeldCall>,
}

/// A call that is no item until its request for approval has an id.
struct HeldCall {
    tool: DeclaredTool,
    arguments: String,
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
            held: BTreeMap::new(),
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
        for McpStartItem { id, item, arguments } in std::mem::take(&mut self.frame.mcp_start) {
            let status = item.start_status();
            let index = self.open_item(OutputItemKind::Mcp(item), Some(id), arguments, events);
            self.close(index, status, events);
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
        if self.items[index].text.is_empty() {
            self.script.write_text_start(&self.items[index], index, events);
        }
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
        if let Some(held) = self.held.get_mut(&call.index) {
            held.arguments.push_str(&call.arguments);
            return;
        }
        let index = match self.calls.get(&call.index) {
            Some(index) => *index,
            None => {
                let call_id = call.id.unwrap_or_else(|| format!("call_{}", call.index));
                let tool = self.frame.call_names.find(&call.name);
                let kind = match tool.form {
                    CallForm::McpApproval => {
                        let arguments = call.arguments;
                        self.held.insert(call.index, HeldCall { tool, arguments });
                        return;
                    }
                    CallForm::Mcp => OutputItemKind::Mcp(to_mcp_call(tool, None)),
                    CallForm::Function | CallForm::Custom | CallForm::ToolSearch => {
                        OutputItemKind::Call { call_id, tool }
                    }
                };
                let index = self.open(kind, events);
                self.calls.insert(call.index, index);
                index
            }
        };
        let item = &mut self.items[index];
        item.text.push_str(&call.arguments);
        let added = match &item.kind {
            OutputItemKind::Call { tool, .. } if tool.form == CallForm::Custom => {
                item.input.push(&call.arguments)
            }
            _ => call.arguments,
        };
        if !added.is_empty() {
            self.script.write_delta(&self.items[index], index, &added, events);
        }
    }

    /// Opens an item, and closes those before it. Calls stay open, because deltas of several calls
    /// may be interleaved.
    fn open(&mut self, kind: OutputItemKind, events: &mut Vec<u8>) -> usize {
        self.open_item(kind, None, String::new(), events)
    }

    /// The same, with an id of its own and a text that is complete.
    fn open_item(
        &mut self,
        kind: OutputItemKind,
        id: Option<String>,
        text: String,
        events: &mut Vec<u8>,
    ) -> usize {
        self.close_all_but_calls(events);
        let index = self.items.len();
        let mut item = self.frame.build_item(index, kind, ItemStatus::InProgress);
        item.id = id.unwrap_or(item.id);
        item.text = text;
        self.script.write_item_added(&item, index, events);
        self.items.push(item);
        index
    }

    fn close_all_but_calls(&mut self, events: &mut Vec<u8>) {
        for index in 0..self.items.len() {
            let kind = &self.items[index].kind;
            if !matches!(kind, OutputItemKind::Call { .. } | OutputItemKind::Mcp(_)) {
                self.close(index, ItemStatus::Completed, events);
            }
        }
    }

    /// Writes what happened between the turns of the model.
    fn encode_tool_event(&mut self, event: ToolEvent, events: &mut Vec<u8>) {
        match event {
            ToolEvent::NextTurn => {
                self.close_all_but_calls(events);
                for index in std::mem::take(&mut self.calls).into_values() {
                    self.close(index, ItemStatus::Completed, events);
                }
                self.held.clear();
            }
            ToolEvent::Resumed { number, name, arguments, approval_id } => {
                let call = to_mcp_call(self.frame.call_names.find(&name), Some(approval_id));
                let index = self.open(OutputItemKind::Mcp(call), events);
                self.items[index].text.clone_from(&arguments);
                self.script.write_delta(&self.items[index], index, &arguments, events);
                self.script.write_mcp_arguments(&self.items[index], index, events);
                self.calls.insert(number, index);
            }
            ToolEvent::Started { number } => {
                if let Some(index) = self.calls.get(&number).copied() {
                    self.script.write_mcp_arguments(&self.items[index], index, events);
                }
            }
            ToolEvent::Ended { number, outcome } => {
                let Some(index) = self.calls.get(&number).copied() else { return };
                let status = match &outcome {
                    Ok(_) => ItemStatus::Completed,
                    Err(_) => ItemStatus::Failed,
                };
                if let OutputItemKind::Mcp(McpItem::Call { outcome: told, .. }) =
                    &mut self.items[index].kind
                {
                    *told = Some(outcome);
                }
                self.close(index, status, events);
            }
            ToolEvent::AwaitsApproval { number, approval_id } => {
                let Some(HeldCall { tool, arguments }) = self.held.remove(&number) else { return };
                let label = tool.namespace.unwrap_or_default();
                let item = McpItem::Approval { label, name: tool.name };
                let kind = OutputItemKind::Mcp(item);
                let index = self.open_item(kind, Some(approval_id), arguments, events);
                self.close(index, ItemStatus::Completed, events);
            }
        }
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

    /// The response at its end.
    pub(super) fn encode_end(
        &mut self,
        settled: &ChatSettlement,
        events: &mut Vec<u8>,
    ) -> Response {
        self.encode_start(events);
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
        response
    }

    /// True if the model or a tool did something.
    pub(super) fn has_output(&self) -> bool {
        let is_listed = |item: &OutputItemState| {
            matches!(item.kind, OutputItemKind::Mcp(McpItem::List { .. }) | OutputItemKind::Search)
        };
        self.items.iter().any(|item| !is_listed(item))
    }

    /// The response after a failure.
    pub(super) fn encode_failure(
        &mut self,
        failure: InferenceFailure,
        events: &mut Vec<u8>,
    ) -> Response {
        let fault = failure.into_event(&self.frame.request_id).error;
        let error = ResponseError { code: fault.code, message: fault.message };
        self.encode_error(error, events)
    }

    /// Ends the response with an error.
    fn encode_error(&mut self, error: ResponseError, events: &mut Vec<u8>) -> Response {
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
        response
    }

    /// Forwards a part of an answer in its own protocol. Returns the part if it is in no such form.
    fn encode_native(&mut self, part: AnswerPart, events: &mut Vec<u8>) -> Option<AnswerPart> {
        let native = self.native.as_mut()?;
        match part {
            AnswerPart::Chunk(ChatChunk { native: Some(event), .. }) => {
                native.forward(event, &self.frame.model, events);
                None
            }
            AnswerPart::Opened(..) | AnswerPart::Tool(_) => None,
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

fn to_mcp_call(tool: DeclaredTool, approval_id: Option<String>) -> McpItem {
    let label = tool.namespace.unwrap_or_default();
    McpItem::Call { label, name: tool.name, approval_id, outcome: None }
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
            self.encode_failure(failure, events);
            return;
        }
        self.encode_start(events);
        match part {
            AnswerPart::Opened(..) | AnswerPart::Failed(_) => {}
            AnswerPart::Chunk(chunk) => self.encode_chunk(chunk, events),
            AnswerPart::Tool(event) => self.encode_tool_event(event, events),
            AnswerPart::Done(settled) => {
                self.encode_end(&settled, events);
            }
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
