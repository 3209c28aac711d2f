//! Plain texts over a real socket: written, read whole and as a stream, and cut at every byte.

use std::sync::Arc;

use engine::{ChatEvent, ChatRequest, EngineError, FinishReason, Message, Prompt};
use futures_util::StreamExt;
use serde_json::Value;

use super::stub::{Seen, Stub, json, patient, sse};
use crate::{Protocol, Thinking};

fn request() -> Arc<ChatRequest> {
    let prompt = Prompt { text: "fn add(".to_owned(), suffix: Some("}".to_owned()) };
    Arc::new(ChatRequest {
        messages: vec![Message::Prompt(prompt)],
        completion_tokens_max: Some(7),
        stop: vec!["\n".to_owned()],
        ..ChatRequest::default()
    })
}

const EVENTS: [&str; 4] = [
    r#"{"id":"t1","choices":[{"index":0,"text":"a, ","finish_reason":null}]}"#,
    r#"{"id":"t1","choices":[{"index":0,"text":"b)","finish_reason":"stop"}]}"#,
    r#"{"id":"t1","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}"#,
    "[DONE]",
];

/// The text and how it ended, or the failure that ended it.
async fn stream(stub: &Stub) -> Result<(String, Option<FinishReason>), EngineError> {
    let mut stream = stub.upstream().chat("m", 16).stream(request()).await?;
    let (mut text, mut finish) = (String::new(), None);
    while let Some(event) = stream.next().await {
        if let ChatEvent::Chunk(chunk) = event? {
            for delta in chunk.deltas {
                text.push_str(&delta.content);
                finish = delta.finish.or(finish);
            }
        }
    }
    Ok((text, finish))
}

#[tokio::test]
async fn a_text_goes_to_its_own_endpoint_as_it_stands() {
    let answer = r#"{"id":"t1","choices":[{"index":0,"text":"a, b)","finish_reason":"length"}],
        "usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}"#;
    let stub = Stub::saying(json("200 OK", answer));
    let answer = stub.upstream().chat("m", 16).answer(request()).await.unwrap();
    assert_eq!(answer.choices[0].content.as_deref(), Some("a, b)"));
    assert_eq!(answer.choices[0].finish, FinishReason::Length);
    assert_eq!(answer.usage.unwrap().completion(), 2);
    let Seen::Request(seen) = stub.next_seen() else { panic!("no request") };
    assert!(seen.starts_with("POST /v1/completions "), "{seen}");
    let body: Value = serde_json::from_str(seen.split_once("\r\n\r\n").unwrap().1).unwrap();
    let expected = r#"{"model":"m","prompt":"fn add(","suffix":"}","max_tokens":7,"stop":["\n"]}"#;
    assert_eq!(body.to_string(), expected);
}

#[tokio::test]
async fn a_stream_of_text_adds_up() {
    let stub = Stub::saying(sse(&EVENTS));
    assert_eq!(stream(&stub).await, Ok(("a, b)".to_owned(), Some(FinishReason::Stop))));
}

#[tokio::test]
async fn a_stream_that_is_cut_before_its_finish_is_an_error_wherever_it_is_cut() {
    let whole = sse(&EVENTS);
    let begins = sse(&[]).len();
    let finishes = sse(&EVENTS[..2]).len();
    for cut in begins..finishes - 2 {
        let stub = Stub::saying(&whole[..cut]);
        let outcome = stream(&stub).await;
        assert!(matches!(outcome, Err(EngineError::BadAnswer { .. })), "{cut}: {outcome:?}");
    }
}

#[tokio::test]
async fn a_protocol_without_plain_texts_says_so() {
    let stub = Stub::saying(json("200 OK", "{}"));
    let upstream = stub.upstream_with(Protocol::Anthropic(Thinking::Budget), patient());
    let outcome = upstream.chat("m", 16).answer(request()).await;
    assert!(matches!(outcome, Err(EngineError::Rejected { .. })), "{outcome:?}");
}
