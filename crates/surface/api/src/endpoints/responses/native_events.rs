//! Forwards the events of a provider that has the Responses API. Only the model's id is changed, and
//! the last event waits until the charge is durable.

use engine::{EngineUsage, NativeEvent};
use http_frame::event_stream::{push_json, push_parts};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use wire::responses::ResponseError;

use super::reply::to_wire_usage;

/// Events that end a response.
const ENDS: [&str; 3] = ["response.completed", "response.incomplete", "response.failed"];

#[derive(Default)]
pub(super) struct NativeEventWriter {
    /// The response as the provider last described it.
    response: Option<Value>,
    /// The items that are complete.
    output: Vec<Value>,
    /// The number of the last event.
    last_number: Option<u64>,
    /// The event that ends the response.
    end: Option<ForwardedEvent>,
}

struct ForwardedEvent {
    kind: String,
    json: String,
}

/// The members of an event that are read.
#[derive(Deserialize)]
struct EventFields {
    sequence_number: Option<u64>,
    item: Option<Box<RawValue>>,
    response: Option<Value>,
}

impl NativeEventWriter {
    /// True once an event was forwarded or kept.
    pub(super) fn has_begun(&self) -> bool {
        self.response.is_some() || self.last_number.is_some() || self.end.is_some()
    }

    pub(super) fn forward(&mut self, event: NativeEvent, model: &str, events: &mut Vec<u8>) {
        let NativeEvent { kind, data } = event;
        let fields: Option<EventFields> = serde_json::from_str(data.get()).ok();
        let mut json = data.get().to_owned();
        if let Some(fields) = fields {
            self.last_number = fields.sequence_number.or(self.last_number);
            if kind == "response.output_item.done"
                && let Some(item) = fields.item
            {
                self.output.extend(serde_json::from_str::<Value>(item.get()).ok());
            }
            if let Some(mut response) = fields.response.filter(Value::is_object) {
                response["model"] = model.into();
                json = replace_response(&json, &response).unwrap_or(json);
                self.response = Some(response);
            }
        }
        let event = ForwardedEvent { kind, json };
        if ENDS.contains(&event.kind.as_str()) {
            self.end = Some(event);
        } else {
            push_native(&event, events);
        }
    }

    /// Ends a response whose charge is durable. An answer that was cut here has no end of its own.
    pub(super) fn write_end(&mut self, usage: EngineUsage, events: &mut Vec<u8>) {
        if let Some(end) = self.end.take() {
            return push_native(&end, events);
        }
        let mut response = self.take_response("incomplete");
        response["incomplete_details"] = json!({ "reason": "max_output_tokens" });
        response["usage"] = serde_json::to_value(to_wire_usage(usage)).unwrap_or_default();
        self.write_response("response.incomplete", &response, events);
    }

    pub(super) fn write_failed(&mut self, error: Option<&ResponseError>, events: &mut Vec<u8>) {
        let mut response = self.take_response("failed");
        response["error"] = serde_json::to_value(error).unwrap_or_default();
        self.write_response("response.failed", &response, events);
    }

    /// Repeats the last number, so that the provider's numbers stay in order.
    pub(super) fn write_keep_alive(&mut self, events: &mut Vec<u8>) {
        let sequence_number = self.last_number.unwrap_or(0);
        let (kind, event) = match &self.response {
            Some(response) => {
                let kind = "response.in_progress";
                let event = json!({
                    "type": kind, "sequence_number": sequence_number, "response": response,
                });
                (kind, event)
            }
            // The provider has not named the response yet.
            None => {
                let kind = "keepalive";
                (kind, json!({ "type": kind, "sequence_number": sequence_number }))
            }
        };
        events.extend_from_slice(format!("event: {kind}\n").as_bytes());
        push_json(events, &event);
    }

    fn take_response(&mut self, status: &str) -> Value {
        let mut response = self.response.take().unwrap_or_else(|| json!({ "object": "response" }));
        response["status"] = status.into();
        response["output"] = std::mem::take(&mut self.output).into();
        response
    }

    fn write_response(&mut self, kind: &str, response: &Value, events: &mut Vec<u8>) {
        let number = self.last_number.map_or(0, |number| number.saturating_add(1));
        events.extend_from_slice(format!("event: {kind}\n").as_bytes());
        let event = json!({ "type": kind, "sequence_number": number, "response": response });
        push_json(events, &event);
    }
}

/// The event with another `response`.
fn replace_response(event: &str, response: &Value) -> Option<String> {
    let mut event: Value = serde_json::from_str(event).ok()?;
    event["response"] = response.clone();
    serde_json::to_string(&event).ok()
}

fn push_native(event: &ForwardedEvent, events: &mut Vec<u8>) {
    if !event.kind.contains(['\n', '\r']) {
        events.extend_from_slice(format!("event: {}\n", event.kind).as_bytes());
    }
    push_parts(events, [event.json.as_bytes(), b"", b""]);
}

/// A complete response with the public id of its model.
pub(super) fn rename_model(response: &RawValue, model: &str) -> Option<Value> {
    let mut response: Value = serde_json::from_str(response.get()).ok()?;
    response.as_object_mut()?.insert("model".to_owned(), model.into());
    Some(response)
}

#[cfg(test)]
mod tests {
    use serde_json::value::to_raw_value;

    use super::*;

    fn event(data: &Value) -> NativeEvent {
        let kind = data["type"].as_str().unwrap().to_owned();
        NativeEvent { kind, data: to_raw_value(data).unwrap() }
    }

    #[test]
    fn events_are_forwarded_as_they_came_but_for_the_model_and_the_end_waits() {
        let mut writer = NativeEventWriter::default();
        let mut events = Vec::new();
        let delta = json!({"type": "response.new_kind.delta", "sequence_number": 1, "x": [1]});
        let created = json!({"type": "response.created", "sequence_number": 0,
            "response": {"id": "resp_1", "model": "gpt", "extra": 1}});
        let end = json!({"type": "response.completed", "sequence_number": 2,
            "response": {"id": "resp_1", "model": "gpt"}});
        writer.forward(event(&created), "public", &mut events);
        writer.forward(event(&delta), "public", &mut events);
        writer.forward(event(&end), "public", &mut events);
        let sent = String::from_utf8(events).unwrap();
        let expected = format!(
            "event: response.created\ndata: {}\n\nevent: response.new_kind.delta\ndata: {delta}\n\n",
            created.to_string().replace("gpt", "public"),
        );
        assert_eq!(sent, expected);
        let mut events = Vec::new();
        writer.write_end(EngineUsage::default(), &mut events);
        let sent = String::from_utf8(events).unwrap();
        assert!(sent.starts_with("event: response.completed\n") && sent.contains("public"));
    }

    #[test]
    fn an_answer_that_was_cut_here_ends_incomplete_with_its_items() {
        let mut writer = NativeEventWriter::default();
        let mut events = Vec::new();
        let created = json!({"type": "response.created", "sequence_number": 0,
            "response": {"id": "resp_1", "model": "gpt"}});
        let done = json!({"type": "response.output_item.done", "sequence_number": 7,
            "item": {"type": "message", "id": "m"}});
        writer.forward(event(&created), "public", &mut events);
        writer.forward(event(&done), "public", &mut events);
        events.clear();
        writer.write_end(EngineUsage::default(), &mut events);
        let sent = String::from_utf8(events).unwrap();
        let data = sent.strip_prefix("event: response.incomplete\ndata: ").unwrap();
        let last: Value = serde_json::from_str(data.trim()).unwrap();
        assert_eq!(last["sequence_number"], 8);
        assert_eq!(last["response"]["output"][0]["id"], "m");
        assert_eq!(last["response"]["usage"]["input_tokens_details"]["cached_tokens"], 0);
    }
}
