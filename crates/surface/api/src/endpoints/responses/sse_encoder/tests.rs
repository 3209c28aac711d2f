//! Tests of the events of a streamed response.

use std::sync::Arc;

use engine::{ChoiceDelta, EngineError, NativeEvent};
use http_frame::request_id::RequestId;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::super::tool_table::CallNames;
use super::super::tools::ResponseEcho;
use super::*;

fn head() -> ResponseHead {
    ResponseHead {
        request_id: RequestId::default(),
        created: 0,
        model: "public".to_owned(),
        echo: ResponseEcho::build(&[], None, None),
        strips_thoughts: false,
        call_names: CallNames::default(),
        sealer: None,
        streams_summary: false,
        lists_sources: false,
        query: None,
        sources: Arc::default(),
        mcp_start: Vec::new(),
    }
}

fn text_chunk(text: &str) -> AnswerPart {
    let delta = ChoiceDelta { content: text.to_owned(), ..ChoiceDelta::default() };
    AnswerPart::Chunk(ChatChunk { deltas: vec![delta], ..ChatChunk::default() })
}

fn native_chunk(data: &Value) -> AnswerPart {
    let kind = data["type"].as_str().unwrap().to_owned();
    let native = Some(NativeEvent { kind, data: to_raw_value(data).unwrap() });
    AnswerPart::Chunk(ChatChunk { native, ..ChatChunk::default() })
}

/// The types and numbers of events, which must all be named.
fn told(events: &[u8]) -> Vec<(String, u64)> {
    let text = std::str::from_utf8(events).unwrap();
    let event = |event: &str| {
        let (name, data) = event.split_once('\n').unwrap();
        let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(name.strip_prefix("event: "), data["type"].as_str());
        (data["type"].as_str().unwrap().to_owned(), data["sequence_number"].as_u64().unwrap())
    };
    text.split_terminator("\n\n").map(event).collect()
}

#[test]
fn a_silent_stream_is_kept_open_by_numbered_events() {
    let mut encoder = ResponseSseEncoder::new(head(), false);
    let mut events = Vec::new();
    encoder.encode_keep_alive(&mut events);
    encoder.encode_keep_alive(&mut events);
    encoder.encode(text_chunk("Hi"), &mut events);
    encoder.encode_keep_alive(&mut events);
    let told = told(&events);
    let expected = [
        "response.created",
        "response.in_progress",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.in_progress",
    ];
    assert_eq!(told.iter().map(|it| it.0.as_str()).collect::<Vec<_>>(), expected);
    assert!(told.iter().map(|it| it.1).eq(0..7));
}

#[test]
fn a_passed_through_stream_is_kept_open_without_a_gap_in_its_numbers() {
    let mut encoder = ResponseSseEncoder::new(head(), true);
    let mut events = Vec::new();
    encoder.encode_keep_alive(&mut events);
    let created = json!({"type": "response.created", "sequence_number": 0,
        "response": {"id": "resp_up", "model": "gpt"}});
    encoder.encode(native_chunk(&created), &mut events);
    encoder.encode_keep_alive(&mut events);
    let expected = [("keepalive", 0), ("response.created", 0), ("response.in_progress", 0)];
    let told = told(&events);
    assert!(told.iter().map(|it| (it.0.as_str(), it.1)).eq(expected));
    let text = String::from_utf8(events).unwrap();
    assert!(text.contains("resp_up") && !text.contains("gpt"), "{text}");
}

#[test]
fn a_passed_through_stream_that_breaks_off_fails_under_its_own_id() {
    let mut encoder = ResponseSseEncoder::new(head(), true);
    let mut events = Vec::new();
    let created = json!({"type": "response.created", "sequence_number": 4,
        "response": {"id": "resp_up", "model": "gpt"}});
    encoder.encode(native_chunk(&created), &mut events);
    events.clear();
    let overflow = EngineError::ContextOverflow { message: "Too long".to_owned() };
    encoder.encode(AnswerPart::Failed(InferenceFailure::Engine(overflow)), &mut events);
    assert_eq!(told(&events), [("response.failed".to_owned(), 5)]);
    let text = String::from_utf8(events).unwrap();
    assert!(text.contains("resp_up") && text.contains("context_length_exceeded"), "{text}");
}

#[test]
fn an_answer_that_came_translated_after_all_is_told_in_our_events() {
    let mut encoder = ResponseSseEncoder::new(head(), true);
    let mut events = Vec::new();
    encoder.encode(text_chunk("Hi"), &mut events);
    assert_eq!(told(&events)[0], ("response.created".to_owned(), 0));
}
