//! Tests of events that are passed through.

use engine::FinishReason;

use super::*;

/// Decodes events and returns one line for each result.
fn decode(events: &[&str]) -> Vec<String> {
    let mut decoder = NativeMessageDecoder::new();
    let mut lines = Vec::new();
    for event in events {
        let mut ready = VecDeque::new();
        let state = decoder.decode_event(event, &mut ready);
        lines.extend(ready.iter().map(describe_event));
        match state {
            Ok(StreamState::GoesOn) => {}
            Ok(StreamState::Over) => {
                let mut last = VecDeque::new();
                let outcome = decoder.finish_answer(&mut last);
                lines.extend(last.iter().map(describe_event));
                lines.push(format!("over {}", outcome.is_ok()));
            }
            Err(error) => lines.push(format!("{error:?}")),
        }
    }
    lines
}

fn describe_event(event: &ChatEvent) -> String {
    match event {
        ChatEvent::Chunk(chunk) => {
            let native = chunk.native.as_ref().expect("every chunk has its event");
            let texts: Vec<&str> =
                chunk.deltas.iter().flat_map(ChoiceDelta::generated_texts).collect();
            let finish: Option<FinishReason> = chunk.deltas.iter().find_map(|delta| delta.finish);
            format!("{} {} {texts:?} {finish:?}", native.kind, native.data.get().len())
        }
        ChatEvent::UpstreamId(id) => format!("id {id}"),
        ChatEvent::Progress(usage) => format!("progress {}", usage.prompt()),
        ChatEvent::Usage(usage) => {
            format!("usage {} {}", usage.cache_creation_1h(), usage.completion())
        }
        ChatEvent::Served(_) => "served".to_owned(),
    }
}

const START: &str = r#"{"type":"message_start","message":{"id":"m1","usage":{"input_tokens":3,"output_tokens":1,"cache_creation_input_tokens":9,"cache_creation":{"ephemeral_1h_input_tokens":7}}}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;

#[test]
fn every_event_but_pings_is_kept_as_it_came() {
    let block =
        r#"{ "type":"content_block_start", "index":0, "content_block":{"type":"text","text":""}}"#;
    let delta = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"},"extra":1}"#;
    let close = r#"{"type":"content_block_stop","index":0}"#;
    let end = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#;
    let lines = decode(&[START, r#"{"type":"ping"}"#, block, delta, close, end, STOP]);
    assert_eq!(
        lines,
        [
            "id m1".to_owned(),
            "progress 12".to_owned(),
            format!("message_start {} [] None", START.len()),
            "progress 12".to_owned(),
            format!("content_block_start {} [] None", block.len()),
            format!("content_block_delta {} [\"Hi\"] None", delta.len()),
            format!("content_block_stop {} [] None", close.len()),
            format!("message_delta {} [] Some(Stop)", end.len()),
            "usage 7 2".to_owned(),
            "over true".to_owned(),
        ]
    );
}

#[test]
fn unknown_blocks_and_deltas_pass_and_their_text_is_metered() {
    let lines = decode(&[
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"novel","say":"abc"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"novel_delta","n":[{"say":"def"}]}}"#,
        r#"{"type":"content_block_delta","index":7,"delta":{"type":"text_delta","text":"ghi"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"zzz"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"web_search_tool_result","content":[{"encrypted_content":"zzz"}]}}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use"}}"#,
        r#"{"type":"new_event","text":"zzz"}"#,
    ]);
    let texts: Vec<&str> = lines.iter().map(|line| line.split(' ').nth(2).unwrap()).collect();
    assert_eq!(texts, ["[\"abc\"]", "[\"def\"]", "[\"ghi\"]", "[]", "[]", "[]", "[]"]);
}

#[test]
fn an_unknown_reason_to_stop_is_no_failure() {
    let end =
        r#"{"type":"message_delta","delta":{"stop_reason":"aborted"},"usage":{"output_tokens":2}}"#;
    let lines = decode(&[START, end, STOP]);
    assert_eq!(lines[3], format!("message_delta {} [] Some(Stop)", end.len()));
    assert_eq!(lines[5], "over true");
}

#[test]
fn errors_and_broken_json_end_the_stream() {
    let overloaded =
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    assert_eq!(decode(&[overloaded]), ["ServiceOverloaded { retry_after: None }"]);
    assert!(decode(&["{\"type\":"])[0].starts_with("BadAnswer"));
    assert!(decode(&["{}"])[0].starts_with("BadAnswer"));
}

#[test]
fn an_event_on_several_lines_becomes_one_line() {
    let mut decoder = NativeMessageDecoder::new();
    let mut ready = VecDeque::new();
    decoder.decode_event("{\"type\":\n\"new\"}", &mut ready).unwrap();
    let Some(ChatEvent::Chunk(chunk)) = ready.pop_front() else { panic!("no chunk") };
    assert_eq!(chunk.native.unwrap().data.get(), "{\"type\": \"new\"}");
}
