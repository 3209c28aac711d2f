//! The same question and answer in each protocol that the service speaks, for callers and for
//! upstreams.

use std::sync::Arc;
use std::time::Duration;

use crate::chat::{BenchChatKind, WORDS};
use crate::load::RequestFactory;
use crate::upstream::ScriptedAnswer;

/// A protocol of callers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CallerProtocol {
    Chat,
    Messages,
    Responses,
}

impl CallerProtocol {
    pub fn path(self) -> &'static str {
        match self {
            CallerProtocol::Chat => "/api/v1/chat/completions",
            CallerProtocol::Messages => "/api/v1/messages",
            CallerProtocol::Responses => "/api/v1/responses",
        }
    }

    /// The members of a request beside its model and stream.
    fn build_members(self, question: &str) -> String {
        let system = "You are a helpful assistant.";
        match self {
            CallerProtocol::Chat => format!(
                r#""messages":[{{"role":"system","content":"{system}"}},{{"role":"user","content":"{question}"}}]"#
            ),
            CallerProtocol::Messages => format!(
                r#""max_tokens":4096,"system":"{system}","messages":[{{"role":"user","content":"{question}"}}]"#
            ),
            CallerProtocol::Responses => format!(
                r#""store":false,"instructions":"{system}","input":[{{"type":"message","role":"user","content":"{question}"}}]"#
            ),
        }
    }
}

/// Requests in one protocol, with the question of [`crate::chat::build_chat_request`].
pub fn build_protocol_request(
    protocol: CallerProtocol,
    model: &str,
    key: &str,
    kind: BenchChatKind,
) -> RequestFactory {
    let (is_stream, name) = (kind != BenchChatKind::Plain, kind.name());
    let (model, key, path) = (model.to_owned(), key.to_owned(), protocol.path());
    Arc::new(move |number| {
        let why = "why is the sky blue, and the grass green? ".repeat(5);
        let question = format!("A {name} answer to question {number}: {why}");
        let members = protocol.build_members(&question);
        let body = format!(r#"{{"model":"{model}","stream":{is_stream},{members}}}"#);
        let length = body.len();
        format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    })
}

/// The answer of an upstream that speaks the Messages API.
pub fn answer_messages(body: &[u8]) -> ScriptedAnswer {
    if !is_stream(body) {
        let text = build_text();
        return ScriptedAnswer::Json(format!(
            r#"{{"id":"msg_1","type":"message","role":"assistant","model":"small","content":[{{"type":"text","text":"{text}"}}],"stop_reason":"end_turn","stop_sequence":null,"usage":{{"input_tokens":80,"output_tokens":64}}}}"#
        ));
    }
    let event =
        |kind: &str, rest: &str| format!("event: {kind}\ndata: {{\"type\":\"{kind}\"{rest}}}\n\n");
    let start = r#","message":{"id":"msg_1","type":"message","role":"assistant","model":"small","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":80,"output_tokens":1}}"#;
    let mut events = vec![
        event("message_start", start),
        event("content_block_start", r#","index":0,"content_block":{"type":"text","text":""}"#),
    ];
    events.extend((0..WORDS).map(|word| {
        let rest = format!(r#","index":0,"delta":{{"type":"text_delta","text":" word{word}"}}"#);
        event("content_block_delta", &rest)
    }));
    let end =
        r#","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":64}"#;
    events.push(event("content_block_stop", r#","index":0"#));
    events.push(event("message_delta", end));
    events.push(event("message_stop", ""));
    ScriptedAnswer::Events { events, pause: Duration::ZERO }
}

/// The answer of an upstream that speaks the Responses API.
pub fn answer_responses(body: &[u8]) -> ScriptedAnswer {
    if !is_stream(body) {
        return ScriptedAnswer::Json(build_response("completed", &build_item(&build_text())));
    }
    let mut number = 0;
    let mut event = |kind: &str, rest: &str| {
        let head = format!(r#""type":"{kind}","sequence_number":{number}"#);
        number += 1;
        format!("event: {kind}\ndata: {{{head},{rest}}}\n\n")
    };
    let whole =
        |status: &str, output: &str| format!(r#""response":{}"#, build_response(status, output));
    let place = r#""item_id":"msg_1","output_index":0,"content_index":0"#;
    let open =
        r#"{"type":"message","id":"msg_1","status":"in_progress","role":"assistant","content":[]}"#;
    let text: String = (0..WORDS).map(|word| format!(" word{word}")).collect();
    let part = |text: &str| {
        format!(r#"{place},"part":{{"type":"output_text","text":"{text}","annotations":[]}}"#)
    };
    let mut events = vec![
        event("response.created", &whole("in_progress", "")),
        event("response.in_progress", &whole("in_progress", "")),
        event("response.output_item.added", &format!(r#""output_index":0,"item":{open}"#)),
        event("response.content_part.added", &part("")),
    ];
    for word in 0..WORDS {
        let rest = format!(r#"{place},"delta":" word{word}""#);
        events.push(event("response.output_text.delta", &rest));
    }
    let item = build_item(&text);
    events.push(event("response.output_text.done", &format!(r#"{place},"text":"{text}""#)));
    events.push(event("response.content_part.done", &part(&text)));
    let done = format!(r#""output_index":0,"item":{item}"#);
    events.push(event("response.output_item.done", &done));
    events.push(event("response.completed", &whole("completed", &item)));
    ScriptedAnswer::Events { events, pause: Duration::ZERO }
}

fn is_stream(body: &[u8]) -> bool {
    let burst = BenchChatKind::Burst.name().as_bytes();
    body.windows(burst.len()).any(|part| part == burst)
}

/// Two kilobytes, as in a plain chat.
fn build_text() -> String {
    "The sky scatters short waves more than long ones. ".repeat(38)
}

fn build_item(text: &str) -> String {
    format!(
        r#"{{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{{"type":"output_text","text":"{text}","annotations":[]}}]}}"#
    )
}

fn build_response(status: &str, output: &str) -> String {
    let usage = r#"{"input_tokens":80,"input_tokens_details":{"cached_tokens":0},"output_tokens":64,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":144}"#;
    let usage = if status == "completed" { usage } else { "null" };
    format!(
        r#"{{"id":"resp_1","object":"response","created_at":1,"model":"small","status":"{status}","output":[{output}],"parallel_tool_calls":true,"tool_choice":"auto","tools":[],"usage":{usage}}}"#
    )
}
