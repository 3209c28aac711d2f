//! Encodes a streamed answer as the events of the Messages API.
//!
//! At most one block is open. A block is opened by its first content and closed before another one,
//! so that no delta belongs to a block that is not open.

use std::collections::{BTreeMap, VecDeque};

use engine::{ChatChunk, ChoiceDelta, FinishReason, ToolCallDelta};
use http_frame::event_stream::{SseEncoder, push_json};
use http_frame::paid_chat::{AnswerPart, ChatSettlement, ToolEvent};
use http_frame::refusal::anthropic_error::to_stream_fault;
use http_frame::refusal::inference::InferenceFailure;
use serde_json::Map;
use wire::messages::{BlockDelta, MessageBlockReply, MessageEnd, MessageEvent};

use super::mcp_answer::build_result;
use super::native_events::NativeForwarder;
use super::reply::MessageHead;
use super::thinking_seal::ThinkingDisplay;

pub(super) struct MessageSseEncoder {
    head: MessageHead,
    is_begun: bool,
    /// The number of the next block.
    next_index: usize,
    open: Option<OpenReplyBlock>,
    /// Calls by the engine's index, with what is not sent yet.
    calls: BTreeMap<u32, CallState>,
    /// Calls that wait until the one before them is complete.
    waiting: VecDeque<u32>,
    /// Calls of all turns so far.
    call_count: usize,
    /// True if the client is to run a tool.
    has_client_calls: bool,
    finish: FinishReason,
    stop_match: Option<String>,
    native: NativeForwarder,
}

/// The block that deltas belong to.
enum OpenReplyBlock {
    Text,
    /// The thinking so far, for its signature.
    Thinking(String),
    Call(u32),
}

#[derive(Default)]
struct CallState {
    id: String,
    name: String,
    /// Arguments that came while another call's block was open.
    unsent: String,
    is_opened: bool,
}

/// Appends an event with its name.
pub(super) fn push_event(event: &MessageEvent<'_>, events: &mut Vec<u8>) {
    events.extend_from_slice(format!("event: {}\n", event.name()).as_bytes());
    push_json(events, event);
}

impl MessageSseEncoder {
    pub(super) fn new(head: MessageHead) -> MessageSseEncoder {
        MessageSseEncoder {
            native: NativeForwarder::new(&head),
            head,
            is_begun: false,
            next_index: 0,
            open: None,
            calls: BTreeMap::new(),
            waiting: VecDeque::new(),
            call_count: 0,
            has_client_calls: false,
            finish: FinishReason::Stop,
            stop_match: None,
        }
    }

    /// Sends the start of the message and the service's search once.
    fn begin(&mut self, events: &mut Vec<u8>) {
        if std::mem::replace(&mut self.is_begun, true) {
            return;
        }
        let message = self.head.build_message(Vec::new());
        push_event(&MessageEvent::MessageStart { message: &message }, events);
        for block in self.head.build_search_blocks() {
            let index = self.start_block(&block, events);
            push_event(&MessageEvent::ContentBlockStop { index }, events);
        }
    }

    fn encode_chunk(&mut self, chunk: ChatChunk, events: &mut Vec<u8>) {
        // The request has one choice.
        for delta in chunk.deltas.into_iter().filter(|delta| delta.index == 0) {
            let ChoiceDelta { reasoning, content, refusal, tool_calls, finish, stop_match, .. } =
                delta;
            self.write_thinking(&reasoning, events);
            self.write_text(&content, events);
            self.write_text(&refusal, events);
            for call in tool_calls {
                self.write_call(call, events);
            }
            self.finish = finish.unwrap_or(self.finish);
            self.stop_match = stop_match.or(self.stop_match.take());
        }
    }

    fn write_thinking(&mut self, text: &str, events: &mut Vec<u8>) {
        if text.is_empty() || self.head.display == ThinkingDisplay::Absent {
            return;
        }
        if !matches!(self.open, Some(OpenReplyBlock::Thinking(_))) {
            self.close_all(events);
            let (thinking, signature) = (String::new(), String::new());
            self.start_block(&MessageBlockReply::Thinking { thinking, signature }, events);
            self.open = Some(OpenReplyBlock::Thinking(String::new()));
        }
        if let Some(OpenReplyBlock::Thinking(so_far)) = &mut self.open {
            so_far.push_str(text);
        }
        if self.head.display == ThinkingDisplay::Shown {
            self.push_delta(BlockDelta::ThinkingDelta { thinking: text }, events);
        }
    }

    fn write_text(&mut self, text: &str, events: &mut Vec<u8>) {
        if text.is_empty() {
            return;
        }
        if !matches!(self.open, Some(OpenReplyBlock::Text)) {
            self.close_all(events);
            self.start_block(&MessageBlockReply::Text { text: String::new() }, events);
            self.open = Some(OpenReplyBlock::Text);
        }
        self.push_delta(BlockDelta::TextDelta { text }, events);
    }

    /// Deltas of several calls may be interleaved: those of a later call wait for its block.
    fn write_call(&mut self, call: ToolCallDelta, events: &mut Vec<u8>) {
        let ToolCallDelta { index, id, name, arguments, .. } = call;
        if !self.calls.contains_key(&index) {
            let number = self.call_count;
            self.call_count += 1;
            self.has_client_calls |= self.head.mcp.find(&name).is_none();
            let id = self.head.choose_call_id(&name, id.filter(|id| !id.is_empty()), number);
            self.calls.insert(index, CallState { id, name, ..CallState::default() });
            self.waiting.push_back(index);
            if !matches!(self.open, Some(OpenReplyBlock::Call(_))) {
                self.open_next_call(events);
            }
        }
        match self.open {
            Some(OpenReplyBlock::Call(open)) if open == index => {
                self.push_arguments(&arguments, events)
            }
            _ => {
                if let Some(call) = self.calls.get_mut(&index).filter(|call| !call.is_opened) {
                    call.unsent.push_str(&arguments);
                }
            }
        }
    }

    /// Writes what happened between the turns of the model.
    fn encode_tool_event(&mut self, event: ToolEvent, events: &mut Vec<u8>) {
        match event {
            ToolEvent::Ended { number, outcome } => {
                self.close_all(events);
                let Some(call) = self.calls.get(&number) else { return };
                let block = build_result(call.id.clone(), outcome);
                let index = self.start_block(&block, events);
                push_event(&MessageEvent::ContentBlockStop { index }, events);
            }
            ToolEvent::NextTurn => {
                self.close_all(events);
                self.calls.clear();
            }
            // Messages have no approvals.
            ToolEvent::Started { .. }
            | ToolEvent::Resumed { .. }
            | ToolEvent::AwaitsApproval { .. } => {}
        }
    }

    /// Opens the block of the call that waits longest, with its arguments so far.
    fn open_next_call(&mut self, events: &mut Vec<u8>) {
        let Some(index) = self.waiting.pop_front() else { return };
        let Some(call) = self.calls.get_mut(&index) else { return };
        call.is_opened = true;
        let arguments = std::mem::take(&mut call.unsent);
        let (id, name) = (call.id.clone(), call.name.clone());
        self.close_open(events);
        let block = self.head.build_call_block(id, name, Map::new());
        self.start_block(&block, events);
        self.open = Some(OpenReplyBlock::Call(index));
        self.push_arguments(&arguments, events);
    }

    fn push_arguments(&mut self, arguments: &str, events: &mut Vec<u8>) {
        if !arguments.is_empty() {
            let delta = BlockDelta::InputJsonDelta { partial_json: arguments };
            self.push_delta(delta, events);
        }
    }

    /// Starts a block. Returns its number.
    fn start_block(&mut self, block: &MessageBlockReply, events: &mut Vec<u8>) -> usize {
        let index = self.next_index;
        self.next_index += 1;
        push_event(&MessageEvent::ContentBlockStart { index, content_block: block }, events);
        index
    }

    /// Appends a delta of the open block, which is the one that was started last.
    fn push_delta(&self, delta: BlockDelta<'_>, events: &mut Vec<u8>) {
        let index = self.next_index.saturating_sub(1);
        push_event(&MessageEvent::ContentBlockDelta { index, delta }, events);
    }

    /// Closes the open block, and sends the calls that wait.
    fn close_all(&mut self, events: &mut Vec<u8>) {
        while !self.waiting.is_empty() {
            self.open_next_call(events);
        }
        self.close_open(events);
    }

    fn close_open(&mut self, events: &mut Vec<u8>) {
        let Some(open) = self.open.take() else { return };
        if let OpenReplyBlock::Thinking(text) = open {
            let signature = self.head.seal.sign(&text, self.head.display);
            self.push_delta(BlockDelta::SignatureDelta { signature: &signature }, events);
        }
        let index = self.next_index.saturating_sub(1);
        push_event(&MessageEvent::ContentBlockStop { index }, events);
    }

    fn encode_end(&mut self, settled: &ChatSettlement, events: &mut Vec<u8>) {
        self.close_all(events);
        let stop_match = self.stop_match.take();
        let end = self.head.build_end(self.finish, self.has_client_calls, stop_match);
        push_end(&self.head, end, settled, events);
    }

    fn encode_failure(&self, failure: InferenceFailure, events: &mut Vec<u8>) {
        let request_id = &self.head.request_id;
        let fault = to_stream_fault(failure, request_id);
        let event = MessageEvent::Error { error: &fault, request_id: request_id.as_str() };
        push_event(&event, events);
    }
}

/// Appends the last two events of a message.
pub(super) fn push_end(
    head: &MessageHead,
    delta: MessageEnd,
    settled: &ChatSettlement,
    events: &mut Vec<u8>,
) {
    let usage = head.build_usage(settled.usage);
    push_event(&MessageEvent::MessageDelta { delta, usage: &usage }, events);
    push_event(&MessageEvent::MessageStop {}, events);
}

impl SseEncoder for MessageSseEncoder {
    fn encode(&mut self, part: AnswerPart, events: &mut Vec<u8>) {
        match part {
            AnswerPart::Opened(..) => {}
            AnswerPart::Tool(event) => self.encode_tool_event(event, events),
            AnswerPart::Chunk(ChatChunk { native: Some(event), .. }) => {
                self.is_begun = true;
                self.native.forward_event(event, events);
            }
            AnswerPart::Chunk(chunk) if self.native.is_begun() => self.native.note_cut(&chunk),
            AnswerPart::Chunk(chunk) => {
                self.begin(events);
                self.encode_chunk(chunk, events);
            }
            AnswerPart::Done(settled) if self.native.is_begun() => {
                self.native.forward_end(&self.head, &settled, events);
            }
            AnswerPart::Done(settled) => {
                self.begin(events);
                self.encode_end(&settled, events);
            }
            AnswerPart::Failed(failure) => self.encode_failure(failure, events),
        }
    }

    /// A ping before the start of a message is allowed: clients ignore it.
    fn encode_keep_alive(&mut self, events: &mut Vec<u8>) {
        push_event(&MessageEvent::Ping {}, events);
    }
}

#[cfg(test)]
mod tests;
