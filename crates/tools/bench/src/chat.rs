//! The chats that gateways are measured with, and the upstream's answers.

use std::sync::Arc;
use std::time::Duration;

use crate::load::RequestFactory;
use crate::upstream::ScriptedAnswer;

/// Words of a stream. Three more events have its role, end and usage, and one closes it.
pub(crate) const WORDS: usize = 64;
pub const EVENTS: u32 = 68;
/// The pace of an upstream that generates 200 tokens per second.
pub const PAUSE: Duration = Duration::from_millis(5);

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum BenchChatKind {
    Plain,
    Burst,
    Paced,
    /// Never ends by itself.
    Open,
}

impl BenchChatKind {
    pub fn from_name(name: &str) -> Option<BenchChatKind> {
        [BenchChatKind::Plain, BenchChatKind::Burst, BenchChatKind::Paced]
            .into_iter()
            .find(|kind| kind.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            BenchChatKind::Plain => "plain",
            BenchChatKind::Burst => "burst",
            BenchChatKind::Paced => "paced",
            BenchChatKind::Open => "open-ended",
        }
    }
}

/// The question contains the kind of answer, because every gateway forwards the question.
pub fn build_chat_request(path: &str, key: &str, kind: BenchChatKind) -> RequestFactory {
    let (is_stream, name) = (kind != BenchChatKind::Plain, kind.name());
    let (path, key) = (path.to_owned(), key.to_owned());
    Arc::new(move |number| {
        let body = format!(
            "{{\"model\":\"small\",\"stream\":{is_stream},\"messages\":[\
             {{\"role\":\"system\",\"content\":\"You are a helpful assistant.\"}},\
             {{\"role\":\"user\",\"content\":\"A {name} answer to question {number}: {}\"}}]}}",
            "why is the sky blue, and the grass green? ".repeat(5)
        );
        let length = body.len();
        format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    })
}

/// The upstream's answer to a request body.
pub fn answer_chat(body: &[u8]) -> ScriptedAnswer {
    let has = |part: &[u8]| body.windows(part.len()).any(|it| it == part);
    // Gateways check the engine's health with an empty body.
    if body.is_empty() || has(b"plain") {
        return ScriptedAnswer::Json(build_completion());
    }
    let pause = if has(b"paced") {
        PAUSE
    } else if has(b"open-ended") {
        Duration::from_secs(60)
    } else {
        Duration::ZERO
    };
    ScriptedAnswer::Events { events: build_events(), pause }
}

const USAGE: &str = r#"{"prompt_tokens":80,"completion_tokens":64,"total_tokens":144}"#;

/// A completion of two kilobytes, as some paragraphs have.
fn build_completion() -> String {
    let text = "The sky scatters short waves more than long ones. ".repeat(38);
    format!(
        r#"{{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"small","choices":[{{"index":0,"message":{{"role":"assistant","content":"{text}"}},"finish_reason":"stop"}}],"usage":{USAGE}}}"#
    )
}

fn build_events() -> Vec<String> {
    let chunk = |rest: &str| {
        format!(
            "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\
             \"model\":\"small\",{rest}}}\n\n"
        )
    };
    let choice = |delta: &str, finish: &str| {
        chunk(&format!(r#""choices":[{{"index":0,"delta":{delta},"finish_reason":{finish}}}]"#))
    };
    let mut events = vec![choice(r#"{"role":"assistant","content":""}"#, "null")];
    events
        .extend((0..WORDS).map(|word| choice(&format!(r#"{{"content":" word{word}"}}"#), "null")));
    events.push(choice("{}", r#""stop""#));
    events.push(chunk(&format!(r#""choices":[],"usage":{USAGE}"#)));
    events.push("data: [DONE]\n\n".to_owned());
    events
}
