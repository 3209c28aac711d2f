//! Writes the numbered events of the Responses API.

use http_frame::event_stream::push_json;
use wire::responses::{EventBody, Response, ResponseEvent};

use super::item::{OutputItemKind, OutputItemState};
use super::tool_table::CallForm;

/// Writes events with sequence numbers.
#[derive(Default)]
pub(super) struct EventWriter {
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
        self.write_part("response.content_part.added", item, output_index, events);
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
            OutputItemKind::Reasoning => self.push_event("response.reasoning.delta", alone, events),
            OutputItemKind::Call { tool, .. } => match tool.form {
                CallForm::Function => {
                    self.push_event("response.function_call_arguments.delta", alone, events);
                }
                CallForm::Custom => {
                    self.push_event("response.custom_tool_call_input.delta", alone, events);
                }
                // Its arguments are an object, which has no pieces.
                CallForm::ToolSearch => {}
            },
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
            OutputItemKind::Reasoning => {}
            OutputItemKind::Search => {
                for kind in SEARCHED {
                    self.push_event(kind, EventBody::Search { item_id, output_index }, events);
                }
            }
            OutputItemKind::Call { tool, .. } => match tool.form {
                CallForm::Function => {
                    let (name, arguments) = (tool.name.as_str(), text);
                    let body = EventBody::ArgumentsDone { item_id, output_index, name, arguments };
                    self.push_event("response.function_call_arguments.done", body, events);
                }
                CallForm::Custom => self.write_custom_done(item, output_index, events),
                CallForm::ToolSearch => {}
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
