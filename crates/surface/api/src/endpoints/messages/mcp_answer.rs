//! A whole message whose model called tools of MCP servers, gathered from a stream.

use std::collections::BTreeMap;

use engine::{ChatChunk, ChoiceDelta, FinishReason};
use http_frame::paid_chat::{AnswerPart, AnswerStream, ChatSettlement, RouteNotes, ToolEvent};
use http_frame::refusal::Refusal;
use wire::messages::{McpResultReply, MessageBlockReply, MessageReply, MessageStopReason};

use super::reply::{MessageHead, parse_input};
use super::thinking_seal::ThinkingDisplay;

/// A message that has ended.
pub(super) struct GatheredMessage {
    pub(super) message: MessageReply,
    pub(super) notes: RouteNotes,
    /// None if the answer broke off.
    pub(super) settled: Option<Box<ChatSettlement>>,
}

/// The blocks so far, and the turn in progress.
struct MessageGatherer<'a> {
    head: &'a MessageHead,
    blocks: Vec<MessageBlockReply>,
    thinking: String,
    text: String,
    calls: BTreeMap<u32, GatheredCall>,
    /// Calls of all turns so far.
    call_count: usize,
    has_client_calls: bool,
    finish: FinishReason,
    stop_match: Option<String>,
}

struct GatheredCall {
    id: String,
    name: String,
    arguments: String,
    is_written: bool,
}

/// Waits for the end. A failure before any output is a refusal. After it, the message has what was
/// done, and `pause_turn`: the client may send it back and go on.
pub(super) async fn gather_message(
    mut flow: AnswerStream,
    head: &MessageHead,
) -> Result<GatheredMessage, Refusal> {
    let mut notes = RouteNotes::default();
    let mut gatherer = MessageGatherer {
        head,
        blocks: head.build_search_blocks(),
        thinking: String::new(),
        text: String::new(),
        calls: BTreeMap::new(),
        call_count: 0,
        has_client_calls: false,
        finish: FinishReason::Stop,
        stop_match: None,
    };
    loop {
        match flow.next().await {
            AnswerPart::Opened(_, told) => notes = told,
            AnswerPart::Chunk(chunk) => gatherer.push_chunk(chunk),
            AnswerPart::Tool(event) => gatherer.push_event(event),
            AnswerPart::Failed(failure) => {
                tracing::warn!(error = %failure, "an answer with tools broke off: {failure}");
                let Some(message) = gatherer.finish_broken() else {
                    return Err(flow.to_refusal(failure));
                };
                return Ok(GatheredMessage { message, notes, settled: None });
            }
            AnswerPart::Done(settled) => {
                let message = gatherer.finish(&settled);
                return Ok(GatheredMessage { message, notes, settled: Some(settled) });
            }
        }
    }
}

impl MessageGatherer<'_> {
    fn push_chunk(&mut self, chunk: ChatChunk) {
        for delta in chunk.deltas.into_iter().filter(|delta| delta.index == 0) {
            let ChoiceDelta { reasoning, content, refusal, tool_calls, finish, stop_match, .. } =
                delta;
            self.thinking.push_str(&reasoning);
            self.text.push_str(&content);
            self.text.push_str(&refusal);
            for call in tool_calls {
                let entry = self.calls.entry(call.index).or_insert_with(|| {
                    let own = call.id.clone().filter(|id| !id.is_empty());
                    let id = self.head.choose_call_id(&call.name, own, self.call_count);
                    self.call_count += 1;
                    let (name, arguments) = (call.name.clone(), String::new());
                    GatheredCall { id, name, arguments, is_written: false }
                });
                entry.arguments.push_str(&call.arguments);
            }
            self.finish = finish.unwrap_or(self.finish);
            self.stop_match = stop_match.or(self.stop_match.take());
        }
    }

    fn push_event(&mut self, event: ToolEvent) {
        match event {
            ToolEvent::Ended { number, outcome } => {
                self.write_turn();
                let Some(call) = self.calls.get(&number) else { return };
                self.blocks.push(build_result(call.id.clone(), outcome));
            }
            ToolEvent::NextTurn => {
                self.write_turn();
                self.calls.clear();
            }
            // Messages have no approvals.
            ToolEvent::Started { .. }
            | ToolEvent::Resumed { .. }
            | ToolEvent::AwaitsApproval { .. } => {}
        }
    }

    /// Adds the blocks of the turn that are not added yet.
    fn write_turn(&mut self) {
        let head = self.head;
        let thinking = std::mem::take(&mut self.thinking);
        if !thinking.is_empty() && head.display != ThinkingDisplay::Absent {
            let signature = head.seal.sign(&thinking, head.display);
            let is_shown = head.display == ThinkingDisplay::Shown;
            let thinking = if is_shown { thinking } else { String::new() };
            self.blocks.push(MessageBlockReply::Thinking { thinking, signature });
        }
        let text = std::mem::take(&mut self.text);
        if !text.is_empty() {
            self.blocks.push(MessageBlockReply::Text { text });
        }
        for call in self.calls.values_mut().filter(|call| !call.is_written) {
            call.is_written = true;
            let input = parse_input(&call.arguments);
            let block = head.build_call_block(call.id.clone(), call.name.clone(), input);
            self.has_client_calls |= matches!(block, MessageBlockReply::ToolUse { .. });
            self.blocks.push(block);
        }
    }

    /// The message so far; None if the model and the tools did nothing.
    fn finish_broken(mut self) -> Option<MessageReply> {
        self.write_turn();
        let stop_reason = Some(MessageStopReason::PauseTurn);
        let has_output = self.head.build_search_blocks().len() < self.blocks.len();
        has_output.then(|| MessageReply { stop_reason, ..self.head.build_message(self.blocks) })
    }

    fn finish(mut self, settled: &ChatSettlement) -> MessageReply {
        self.write_turn();
        let stop_match = self.stop_match.take();
        let end = self.head.build_end(self.finish, self.has_client_calls, stop_match);
        MessageReply {
            stop_reason: Some(end.stop_reason),
            stop_sequence: end.stop_sequence,
            usage: self.head.build_usage(settled.usage),
            ..self.head.build_message(self.blocks)
        }
    }
}

/// The block with the result of a call.
pub(super) fn build_result(
    tool_use_id: String,
    outcome: Result<String, String>,
) -> MessageBlockReply {
    let is_error = outcome.is_err();
    let text = outcome.unwrap_or_else(|error| error);
    let content = vec![McpResultReply::Text { text }];
    MessageBlockReply::McpToolResult { tool_use_id, is_error, content }
}
