//! The grammar of the stream, and the known faults of other gateways.

use engine::{EngineUsage, NativeEvent, UsageReport};
use http_frame::request_id::RequestId;
use ledger_core::{ChargeReceipt, CurrencyBalances, EntryId};
use serde_json::{Value, json};

use super::super::mcp::McpNames;
use super::*;
use crate::endpoints::messages::reply::MadeSearch;
use crate::endpoints::messages::thinking_seal::tests::seal;

fn build_head(display: ThinkingDisplay) -> MessageHead {
    MessageHead {
        request_id: RequestId::new("r".to_owned()),
        model: "m".to_owned(),
        display,
        seal: seal("m", 1),
        search: None,
        prompt_estimate: 11,
        stops: vec!["END".to_owned()],
        mcp: McpNames::default(),
    }
}

fn settle() -> AnswerPart {
    let report = UsageReport {
        prompt: 100.0,
        completion: 7.0,
        cached: 60.0,
        cache_creation: 30.0,
        cache_creation_1h: 10.0,
        reasoning: 2.0,
        ..UsageReport::default()
    };
    let usage = EngineUsage::from_report(report).unwrap();
    let receipt = ChargeReceipt {
        charge: EntryId(uuid::Uuid::nil()),
        legs: Vec::new(),
        written_off: money::Nano::ZERO,
        remaining: CurrencyBalances::default(),
    };
    AnswerPart::Done(Box::new(ChatSettlement { usage, receipt }))
}

fn chunk(delta: ChoiceDelta) -> AnswerPart {
    AnswerPart::Chunk(ChatChunk { deltas: vec![delta], ..ChatChunk::default() })
}

fn content(text: &str) -> ChoiceDelta {
    ChoiceDelta { content: text.to_owned(), ..ChoiceDelta::default() }
}

fn reasoning(text: &str) -> ChoiceDelta {
    ChoiceDelta { reasoning: text.to_owned(), ..ChoiceDelta::default() }
}

fn finish(reason: FinishReason) -> ChoiceDelta {
    ChoiceDelta { finish: Some(reason), ..ChoiceDelta::default() }
}

fn call(index: u32, id: Option<&str>, name: &str, arguments: &str) -> ChoiceDelta {
    let call = ToolCallDelta {
        index,
        id: id.map(str::to_owned),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        ..ToolCallDelta::default()
    };
    ChoiceDelta { tool_calls: vec![call], ..ChoiceDelta::default() }
}

/// The events of these parts. Checks the grammar: the name of an event is its type, and a delta
/// belongs to the block that is open.
fn encode_with(head: MessageHead, parts: Vec<AnswerPart>) -> Vec<Value> {
    let mut encoder = MessageSseEncoder::new(head);
    let mut bytes = Vec::new();
    for part in parts {
        encoder.encode(part, &mut bytes);
    }
    let events = parse_events(&bytes);
    check_grammar(&events);
    events
}

fn encode(parts: Vec<AnswerPart>) -> Vec<Value> {
    encode_with(build_head(ThinkingDisplay::Shown), parts)
}

fn parse_events(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).unwrap();
    let event = |event: &str| {
        let (name, data) = event.split_once('\n').unwrap();
        let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(name, format!("event: {}", data["type"].as_str().unwrap()));
        data
    };
    text.split_terminator("\n\n").map(event).collect()
}

fn check_grammar(events: &[Value]) {
    let (mut open, mut next) = (None, 0);
    for event in events {
        let index = event["index"].as_u64();
        match event["type"].as_str().unwrap() {
            "content_block_start" => {
                assert_eq!((open, index), (None, Some(next)), "{event}");
                (open, next) = (index, next + 1);
            }
            "content_block_delta" => assert_eq!(open, index, "{event}"),
            "content_block_stop" => {
                assert_eq!(open, index, "{event}");
                open = None;
            }
            "message_delta" | "message_stop" => assert_eq!(open, None, "{event}"),
            _ => {}
        }
    }
}

/// The events in short, one word or delta each.
fn shorten(events: &[Value]) -> Vec<String> {
    let line = |event: &Value| {
        let delta = &event["delta"];
        match event["type"].as_str().unwrap() {
            "content_block_start" => {
                format!("start {}", event["content_block"]["type"].as_str().unwrap())
            }
            "content_block_stop" => "stop".to_owned(),
            "content_block_delta" => ["text", "thinking", "partial_json"]
                .iter()
                .find_map(|name| Some(format!("{name} {}", delta.get(name)?.as_str()?)))
                .unwrap_or_else(|| "signature".to_owned()),
            "message_delta" => format!("end {}", delta["stop_reason"].as_str().unwrap()),
            other => other.to_owned(),
        }
    };
    events.iter().map(line).collect()
}

#[test]
fn a_text_is_one_block_between_the_start_and_the_end() {
    let events = encode(vec![
        chunk(content("Hel")),
        chunk(content("lo")),
        chunk(finish(FinishReason::Stop)),
        settle(),
    ]);
    assert_eq!(
        shorten(&events),
        [
            "message_start",
            "start text",
            "text Hel",
            "text lo",
            "stop",
            "end end_turn",
            "message_stop"
        ]
    );
    let message = &events[0]["message"];
    assert_eq!(message["id"], "msg_r");
    assert_eq!((&message["content"], &message["stop_reason"]), (&json!([]), &Value::Null));
}

#[test]
fn thinking_is_never_a_delta_of_a_text_and_the_message_starts_once() {
    let mut both = reasoning("why");
    both.content = "so".to_owned();
    let events = encode(vec![
        chunk(both),
        chunk(reasoning("hm")),
        chunk(content("yes")),
        chunk(finish(FinishReason::Stop)),
        settle(),
    ]);
    assert_eq!(
        shorten(&events),
        [
            "message_start",
            "start thinking",
            "thinking why",
            "signature",
            "stop",
            "start text",
            "text so",
            "stop",
            "start thinking",
            "thinking hm",
            "signature",
            "stop",
            "start text",
            "text yes",
            "stop",
            "end end_turn",
            "message_stop",
        ]
    );
    let signature = events[3]["delta"]["signature"].as_str().unwrap();
    assert_eq!(seal("m", 1).open("why", signature).as_deref(), Some("why"));
}

#[test]
fn omitted_thinking_is_an_empty_block_with_a_signature() {
    let parts = || vec![chunk(reasoning("why")), chunk(content("so")), settle()];
    let events = encode_with(build_head(ThinkingDisplay::Omitted), parts());
    let lines = shorten(&events);
    assert_eq!(lines[1..4], ["start thinking", "signature", "stop"]);
    let signature = events[2]["delta"]["signature"].as_str().unwrap();
    assert_eq!(seal("m", 1).open("", signature).as_deref(), Some("why"));
    let events = encode_with(build_head(ThinkingDisplay::Absent), parts());
    assert_eq!(shorten(&events)[1..3], ["start text", "text so"]);
}

#[test]
fn the_chunk_that_opens_a_call_keeps_its_arguments() {
    let events = encode(vec![
        chunk(call(0, Some("c1"), "f", "{\"a\":")),
        chunk(call(0, None, "", "1}")),
        chunk(finish(FinishReason::ToolCalls)),
        settle(),
    ]);
    assert_eq!(
        shorten(&events),
        [
            "message_start",
            "start tool_use",
            "partial_json {\"a\":",
            "partial_json 1}",
            "stop",
            "end tool_use",
            "message_stop",
        ]
    );
    let block = &events[1]["content_block"];
    assert_eq!(
        (&block["id"], &block["name"], &block["input"]),
        (&json!("c1"), &json!("f"), &json!({}))
    );
}

#[test]
fn a_call_without_an_id_gets_one_and_without_arguments_has_no_delta() {
    let events = encode(vec![chunk(call(0, None, "f", "")), settle()]);
    assert_eq!(shorten(&events)[1..3], ["start tool_use", "stop"]);
    assert_eq!(events[1]["content_block"]["id"], "toolu_r_0");
}

#[test]
fn calls_that_are_interleaved_are_sent_one_after_the_other() {
    let events = encode(vec![
        chunk(content("Let me")),
        chunk(call(0, Some("a"), "f", "{")),
        chunk(call(1, Some("b"), "g", "[")),
        chunk(call(0, None, "", "}")),
        chunk(call(1, None, "", "]")),
        chunk(finish(FinishReason::ToolCalls)),
        settle(),
    ]);
    assert_eq!(
        shorten(&events)[3..],
        [
            "stop",
            "start tool_use",
            "partial_json {",
            "partial_json }",
            "stop",
            "start tool_use",
            "partial_json []",
            "stop",
            "end tool_use",
            "message_stop",
        ]
    );
}

#[test]
fn an_answer_that_called_a_tool_ends_with_tool_use_and_has_no_empty_text() {
    let mut opening = content("");
    opening.opens = true;
    let events = encode(vec![
        chunk(opening),
        chunk(call(0, Some("a"), "f", "{}")),
        chunk(finish(FinishReason::Stop)),
        settle(),
    ]);
    assert_eq!(shorten(&events)[1], "start tool_use");
    assert_eq!(shorten(&events)[4], "end tool_use");
}

#[test]
fn each_finish_has_its_stop_reason() {
    for (reason, expected) in [
        (FinishReason::Length, "end max_tokens"),
        (FinishReason::ContentFilter, "end refusal"),
        (FinishReason::Stop, "end end_turn"),
    ] {
        let events = encode(vec![chunk(content("a")), chunk(finish(reason)), settle()]);
        assert_eq!(shorten(&events)[4], expected);
    }
}

#[test]
fn usage_is_there_from_the_start_and_its_input_is_net_of_the_cache() {
    let events = encode(vec![chunk(content("a")), settle()]);
    assert_eq!(events[0]["message"]["usage"]["input_tokens"], 11);
    assert_eq!(events[0]["message"]["usage"]["cache_read_input_tokens"], 0);
    let expected = json!({
        "input_tokens": 10,
        "cache_creation_input_tokens": 30,
        "cache_read_input_tokens": 60,
        "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 10},
        "output_tokens": 7,
        "output_tokens_details": {"thinking_tokens": 2},
        "server_tool_use": null,
        "service_tier": "standard",
    });
    assert_eq!(events[4]["usage"], expected);
}

#[test]
fn a_search_of_the_service_is_a_server_tool_and_never_the_clients() {
    let search = MadeSearch { query: "rust".to_owned(), sources: Vec::new() };
    let head = MessageHead { search: Some(search), ..build_head(ThinkingDisplay::Shown) };
    let events = encode_with(head, vec![chunk(content("a")), settle()]);
    assert_eq!(
        shorten(&events)[1..5],
        ["start server_tool_use", "stop", "start web_search_tool_result", "stop"]
    );
    assert_eq!(events[1]["content_block"]["input"], json!({"query": "rust"}));
    assert_eq!(events[3]["content_block"]["tool_use_id"], events[1]["content_block"]["id"]);
    assert_eq!(events[8]["usage"]["server_tool_use"], json!({"web_search_requests": 1}));
    assert_eq!(events[8]["delta"]["stop_reason"], "end_turn");
}

#[test]
fn a_failure_is_an_error_event_and_silence_a_ping() {
    let events = encode(vec![chunk(content("a")), AnswerPart::Failed(InferenceFailure::Lost)]);
    let last = events.last().unwrap();
    assert_eq!((&last["type"], &last["error"]["type"]), (&json!("error"), &json!("api_error")));
    let mut bytes = Vec::new();
    MessageSseEncoder::new(build_head(ThinkingDisplay::Shown)).encode_keep_alive(&mut bytes);
    assert_eq!(bytes, b"event: ping\ndata: {\"type\":\"ping\"}\n\n");
}

fn native(kind: &str, data: &str) -> AnswerPart {
    let data = serde_json::value::RawValue::from_string(data.to_owned()).unwrap();
    let native = Some(NativeEvent { kind: kind.to_owned(), data });
    AnswerPart::Chunk(ChatChunk { native, ..ChatChunk::default() })
}

#[test]
fn events_of_the_same_protocol_are_forwarded_and_the_end_waits_for_the_charge() {
    let mut encoder = MessageSseEncoder::new(build_head(ThinkingDisplay::Shown));
    let mut bytes = Vec::new();
    for (kind, data) in [
        ("message_start", r#"{"type":"message_start","message":{"model":"claude-x","new":1}}"#),
        (
            "content_block_start",
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"new"}}"#,
        ),
        (
            "content_block_delta",
            r#"{"type":"content_block_delta", "index":0,"delta":{"type":"new_delta"}}"#,
        ),
        ("content_block_stop", r#"{"type":"content_block_stop","index":0}"#),
        (
            "message_delta",
            r#"{"type":"message_delta","delta":{"stop_reason":"pause_turn"},"usage":{"x":1}}"#,
        ),
    ] {
        encoder.encode(native(kind, data), &mut bytes);
    }
    let before = String::from_utf8(bytes.clone()).unwrap();
    assert!(before.starts_with(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"new\":1}}\n\n"
    ));
    assert!(before.contains("data: {\"type\":\"content_block_delta\", \"index\":0"), "unchanged");
    assert!(!before.contains("message_delta"), "held back");
    encoder.encode(settle(), &mut bytes);
    let lines = shorten(&parse_events(&bytes));
    assert_eq!(lines[4..], ["end pause_turn", "message_stop"]);
}

#[test]
fn a_forwarded_answer_that_is_cut_here_ends_properly() {
    let events = encode(vec![
        native("message_start", r#"{"type":"message_start","message":{"model":"x"}}"#),
        native(
            "content_block_start",
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text"}}"#,
        ),
        chunk(finish(FinishReason::Length)),
        settle(),
    ]);
    let lines = shorten(&events);
    assert_eq!(lines, ["message_start", "start text", "stop", "end max_tokens", "message_stop"]);
}

#[test]
fn a_stop_sequence_that_the_engine_names_is_the_reason_of_the_end() {
    let end = |stop: &str, reason: FinishReason| {
        let named = ChoiceDelta { stop_match: Some(stop.to_owned()), ..finish(reason) };
        let parts = vec![chunk(content("So")), chunk(named), settle()];
        let events = encode_with(build_head(ThinkingDisplay::Shown), parts);
        events[events.len() - 2]["delta"].clone()
    };
    let met = json!({"stop_reason": "stop_sequence", "stop_sequence": "END"});
    assert_eq!(end("END", FinishReason::Stop), met);
    // Words of the server's own in the same place are no sequence of the caller's.
    let ended = json!({"stop_reason": "end_turn", "stop_sequence": null});
    assert_eq!(end("stop", FinishReason::Stop), ended);
    let cut = json!({"stop_reason": "max_tokens", "stop_sequence": null});
    assert_eq!(end("END", FinishReason::Length), cut);
}
