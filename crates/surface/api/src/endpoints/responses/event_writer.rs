//! Writes the numbered events of the Responses API.

use http_frame::event_stream::push_json;
use wire::responses::{EventBody, ItemStatus, Response, ResponseEvent, SummaryPart};

use super::item::{OutputItemKind, OutputItemState};
use super::mcp_item::McpItem;
use super::tool_table::CallForm;

/// Writes events with sequence numbers.
#[derive(Default)]
pub(super) struct EventWriter {
    next: u64,
}

/// A step of an item about an MCP server.
#[derive(Clone, Copy)]
enum McpStep {
    InProgress,
    Completed,
    Failed,
}

/// The events of a search, in order.
const SEARCHED: [&str; 3] = [
    "response.web_search_call.in_progress",
    "response.web_search_call.searching",
    "response.web_search_call.completed",
];
/// Every message and every summary has exactly one part.
const CONTENT_INDEX: usize = 0;
const SUMMARY_INDEX: usize = 0;

impl EventWriter {
    pub(super) fn write_response(
        &mut self,
        kind: &'static str,
        response: &Response,
        events: &mut Vec<u8>,
    ) {
        self.push_event(kind, EventBody::Response { response }, events);
    }

    pub(super) fn write_item_added(
        &mut self,
        item: &OutputItemState,
        output_index: usize,
        events: &mut Vec<u8>,
    ) {
        let body = EventBody::Item { output_index, item: &item.to_output_item() };
        self.push_event("response.output_item.added", body, events);
        self.write_mcp_step(item, output_index, McpStep::InProgress, events);
        self.write_part("response.content_part.added", item, output_index, events);
    }

    /// The event before the first text of an item. The part of a summary is told here and not with
    /// its item, because reasoning may have no readable text.
    pub(super) fn write_text_start(
        &mut self,
        item: &OutputItemState,
        output_index: usize,
        events: &mut Vec<u8>,
    ) {
        if item.kind == OutputItemKind::Reasoning && item.streams_summary {
            let added = "response.reasoning_summary_part.added";
            self.write_summary_part(added, item, output_index, events);
        }
    }

    pub(super) fn write_delta(
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
            OutputItemKind::Reasoning if item.streams_summary => {
                let summary_index = SUMMARY_INDEX;
                let body = EventBody::SummaryDelta { item_id, output_index, summary_index, delta };
                self.push_event("response.reasoning_summary_text.delta", body, events);
            }
            OutputItemKind::Reasoning => self.push_event("response.reasoning.delta", alone, events),
            OutputItemKind::Call { tool, .. } => match tool.form {
                CallForm::Function => {
                    self.push_event("response.function_call_arguments.delta", alone, events);
                }
                CallForm::Custom => {
                    self.push_event("response.custom_tool_call_input.delta", alone, events);
                }
                // Its arguments are an object, which has no pieces.
                CallForm::ToolSearch | CallForm::Mcp | CallForm::McpApproval => {}
            },
            OutputItemKind::Mcp(McpItem::Call { .. }) => {
                self.push_event("response.mcp_call_arguments.delta", alone, events);
            }
            OutputItemKind::Mcp(_) => {}
            OutputItemKind::Text => {
                self.push_event("response.output_text.delta", in_message, events)
            }
            OutputItemKind::Refusal => {
                self.push_event("response.refusal.delta", in_message, events)
            }
        }
    }

    pub(super) fn write_item_done(
        &mut self,
        item: &OutputItemState,
        output_index: usize,
        events: &mut Vec<u8>,
    ) {
        let (item_id, text, content_index) = (&item.id, item.text.as_str(), CONTENT_INDEX);
        match &item.kind {
            OutputItemKind::Reasoning => self.write_summary_done(item, output_index, events),
            OutputItemKind::Search => {
                for kind in SEARCHED {
                    self.push_event(kind, EventBody::Step { item_id, output_index }, events);
                }
            }
            OutputItemKind::Call { tool, .. } => match tool.form {
                CallForm::Function => {
                    let (name, arguments) = (tool.name.as_str(), text);
                    let body = EventBody::ArgumentsDone { item_id, output_index, name, arguments };
                    self.push_event("response.function_call_arguments.done", body, events);
                }
                CallForm::Custom => self.write_custom_done(item, output_index, events),
                CallForm::ToolSearch | CallForm::Mcp | CallForm::McpApproval => {}
            },
            OutputItemKind::Mcp(_) => match item.status {
                ItemStatus::Completed => {
                    self.write_mcp_step(item, output_index, McpStep::Completed, events);
                }
                ItemStatus::Failed => {
                    self.write_mcp_step(item, output_index, McpStep::Failed, events);
                }
                ItemStatus::InProgress | ItemStatus::Incomplete => {}
            },
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

    /// The end of the arguments of a call that the service makes now.
    pub(super) fn write_mcp_arguments(
        &mut self,
        item: &OutputItemState,
        output_index: usize,
        events: &mut Vec<u8>,
    ) {
        let (item_id, arguments) = (&item.id, item.text.as_str());
        let body = EventBody::McpArgumentsDone { item_id, output_index, arguments };
        self.push_event("response.mcp_call_arguments.done", body, events);
    }

    fn write_mcp_step(
        &mut self,
        item: &OutputItemState,
        output_index: usize,
        step: McpStep,
        events: &mut Vec<u8>,
    ) {
        let OutputItemKind::Mcp(about) = &item.kind else { return };
        let kind = match (about, step) {
            (McpItem::Approval { .. }, _) => return,
            (McpItem::List { .. }, McpStep::InProgress) => "response.mcp_list_tools.in_progress",
            (McpItem::List { .. }, McpStep::Completed) => "response.mcp_list_tools.completed",
            (McpItem::List { .. }, McpStep::Failed) => "response.mcp_list_tools.failed",
            (McpItem::Call { .. }, McpStep::InProgress) => "response.mcp_call.in_progress",
            (McpItem::Call { .. }, McpStep::Completed) => "response.mcp_call.completed",
            (McpItem::Call { .. }, McpStep::Failed) => "response.mcp_call.failed",
        };
        let body = EventBody::Step { item_id: &item.id, output_index };
        self.push_event(kind, body, events);
    }

    /// The end of a summary, if there is one.
    fn write_summary_done(
        &mut self,
        item: &OutputItemState,
        output_index: usize,
        events: &mut Vec<u8>,
    ) {
        if !item.streams_summary || item.text.is_empty() {
            return;
        }
        let (item_id, text, summary_index) = (&item.id, item.text.as_str(), SUMMARY_INDEX);
        let body = EventBody::SummaryDone { item_id, output_index, summary_index, text };
        self.push_event("response.reasoning_summary_text.done", body, events);
        let done = "response.reasoning_summary_part.done";
        self.write_summary_part(done, item, output_index, events);
    }

    /// The part of a summary with its text so far.
    fn write_summary_part(
        &mut self,
        kind: &'static str,
        item: &OutputItemState,
        output_index: usize,
        events: &mut Vec<u8>,
    ) {
        let (item_id, summary_index) = (&item.id, SUMMARY_INDEX);
        let part = &SummaryPart::SummaryText { text: item.text.clone() };
        let body = EventBody::Summary { item_id, output_index, summary_index, part };
        self.push_event(kind, body, events);
    }

    /// The end of the text for a custom tool.
    fn write_custom_done(
        &mut self,
        item: &OutputItemState,
        output_index: usize,
        events: &mut Vec<u8>,
    ) {
        let input = item.custom_input();
        let rest = item.input.find_rest(&input);
        if !rest.is_empty() {
            self.write_delta(item, output_index, rest, events);
        }
        let body = EventBody::InputDone { item_id: &item.id, output_index, input: &input };
        self.push_event("response.custom_tool_call_input.done", body, events);
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
