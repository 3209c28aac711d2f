//! Invalid bytes from a server: nothing panics, and no incomplete answer is accepted as complete.

use engine::ChatEvent;
use proptest::prelude::*;

use super::golden::decode;
use crate::anthropic::{MessageDecoder, read_message};
use crate::openai::{ChunkDecoder, read_answer};
use crate::openai_responses::{ResponseDecoder, read_response};

/// JSON that looks like chunks and events, with members of every wrong type.
fn odd_json() -> impl Strategy<Value = String> {
    let names = prop::sample::select(vec![
        "choices",
        "index",
        "delta",
        "content",
        "tool_calls",
        "function",
        "arguments",
        "usage",
        "finish_reason",
        "prompt_tokens",
        "type",
        "error",
        "message",
        "content_block",
        "id",
        "stop_reason",
        "message_start",
        "content_block_delta",
        "message_delta",
        "reasoning",
        "output_index",
        "item",
        "output",
        "status",
        "completed",
        "summary",
        "response",
        "response.created",
        "response.output_item.added",
        "response.output_item.done",
        "response.output_text.delta",
        "response.completed",
        "function_call",
        "call_id",
        "name",
    ]);
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        any::<i64>().prop_map(|it| it.to_string()),
        Just("1e999".to_owned()),
        names.clone().prop_map(|it| format!("{it:?}")),
    ];
    leaf.prop_recursive(5, 40, 4, move |inner| {
        let member = (names.clone(), inner.clone()).prop_map(|(name, it)| format!("{name:?}:{it}"));
        prop_oneof![
            prop::collection::vec(inner, 0..3).prop_map(|it| format!("[{}]", it.join(","))),
            prop::collection::vec(member, 0..4).prop_map(|it| format!("{{{}}}", it.join(","))),
        ]
    })
}

proptest! {
    #[test]
    fn odd_events_never_panic_nor_finish_unasked(
        events in prop::collection::vec(odd_json(), 1..5),
    ) {
        let text: String = events.iter().map(|it| format!("data: {it}\n\n")).collect();
        for (events, outcome) in [
            decode(ChunkDecoder::new(1), &[text.as_bytes()]),
            decode(ResponseDecoder::default(), &[text.as_bytes()]),
            decode(ResponseDecoder::passing_events(), &[text.as_bytes()]),
        ] {
            let finished = events.iter().any(|event| match event {
                ChatEvent::Chunk(chunk) => chunk.deltas.iter().any(|it| it.finish.is_some()),
                _ => false,
            });
            prop_assert!(outcome.is_err() || finished);
        }
        let _ = decode(MessageDecoder::default(), &[text.as_bytes()]);
    }

    #[test]
    fn odd_answers_never_panic(body in odd_json()) {
        let _ = read_answer(body.as_bytes());
        let _ = read_message(body.as_bytes());
        let _ = read_response(body.as_bytes());
    }

    #[test]
    fn any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = decode(ChunkDecoder::new(1), &[&bytes]);
        let _ = decode(MessageDecoder::default(), &[&bytes]);
        let _ = decode(ResponseDecoder::passing_events(), &[&bytes]);
    }
}

#[test]
fn deep_nesting_is_an_error_and_not_a_crash() {
    let deep = format!("data: {{\"choices\":{}\n\n", "[".repeat(200_000));
    assert!(decode(ChunkDecoder::new(1), &[deep.as_bytes()]).1.is_err());
    assert!(read_answer(&deep.as_bytes()[6..]).is_err());
    let deep = format!("data: {{\"type\":\"x\",\"item\":{}\n\n", "[".repeat(200_000));
    assert!(decode(ResponseDecoder::passing_events(), &[deep.as_bytes()]).1.is_err());
    assert!(read_response(&deep.as_bytes()[6..]).is_err());
}

#[test]
fn a_response_with_more_items_or_calls_than_any_has_is_an_error() {
    let item = r#"{"type":"function_call","call_id":"c","name":"f"}"#;
    let event = |index: u32| {
        let kind = "response.output_item.added";
        format!("data: {{\"type\":\"{kind}\",\"output_index\":{index},\"item\":{item}}}\n\n")
    };
    for events in [(0..5000).map(event).collect::<String>(), event(7).repeat(5000)] {
        let (read, outcome) = decode(ResponseDecoder::default(), &[events.as_bytes()]);
        assert_eq!(read.len(), 4096);
        assert!(outcome.is_err());
    }
}
