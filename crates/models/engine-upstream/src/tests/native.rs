//! Requests in Anthropic's own protocol, passed through over a real socket.

use std::sync::Arc;

use bytes::Bytes;
use engine::{
    ChatEngine, ChatEvent, ChatRequest, EngineError, NativeHeader, NativeProtocol, NativeRequest,
};
use futures_util::StreamExt;

use super::requests;
use super::stub::{StubRecord, StubServer, json, patient, sse};
use crate::{ProviderProtocol, ThinkingStyle};

/// A body with fields and white space that a decoder would not keep.
const BODY: &str = "{ \"model\" : \"opus\",\"max_tokens\":128000, \"novel\":[1.50],\n\"stream\":true,\
                    \"messages\":[{\"role\":\"system\",\"content\":\"\\u0041\"}]}";
const SENT: &str = "{ \"model\" : \"claude-5\",\"max_tokens\":128000, \"novel\":[1.50],\n\"stream\":true,\
                    \"messages\":[{\"role\":\"system\",\"content\":\"\\u0041\"}]}";

fn native_request(headers: &[(&str, &str)]) -> Arc<ChatRequest> {
    let start = BODY.find("\"opus\"").unwrap();
    let header = |(name, value): &(&str, &str)| NativeHeader {
        name: (*name).to_owned(),
        value: (*value).to_owned(),
    };
    let native = NativeRequest {
        protocol: NativeProtocol::Messages,
        body: Bytes::from_static(BODY.as_bytes()),
        model_span: start..start + "\"opus\"".len(),
        headers: headers.iter().map(header).collect(),
    };
    Arc::new(ChatRequest { native: Some(Arc::new(native)), ..requests::user("Hello") })
}

fn engine(stub: &StubServer) -> Arc<dyn ChatEngine> {
    let protocol =
        ProviderProtocol::Anthropic { thinking: ThinkingStyle::Budget, caches_system_prompt: true };
    stub.upstream_with(protocol, patient()).create_chat_engine("claude-5", 100).unwrap()
}

fn seen_request(stub: &StubServer) -> String {
    match stub.next_seen() {
        StubRecord::Request(request) => request,
        StubRecord::Close => panic!("no request came"),
    }
}

const ANSWER: &str = "{\"id\":\"m1\", \"content\":[{\"type\":\"novel\",\"say\":\"x\"},{\"type\":\"text\",\
    \"text\":\"Hi\"}],\"stop_reason\":\"novel_reason\",\"usage\":{\"input_tokens\":3,\"output_tokens\":2}}";

#[tokio::test]
async fn a_whole_answer_and_its_request_stay_as_they_came() {
    let stub = StubServer::saying(json("200 OK", ANSWER));
    let headers = [
        ("anthropic-beta", "a-2026,b-2026"),
        ("anthropic-version", "2031-01-01"),
        ("anthropic-novel", "yes"),
        ("x-api-key", "of-the-caller"),
        ("authorization", "Bearer of-the-caller"),
    ];
    let answer = engine(&stub).complete_chat(native_request(&headers)).await.unwrap();
    assert_eq!(answer.native.unwrap().get(), ANSWER);
    let usage = answer.usage.unwrap();
    assert_eq!((usage.prompt(), usage.completion()), (3, 2));
    let request = seen_request(&stub);
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert_eq!(body, SENT);
    for line in [
        "anthropic-beta: a-2026,b-2026",
        "anthropic-version: 2031-01-01",
        "anthropic-novel: yes",
        "x-api-key: sk-secret",
        "x-extra: yes",
    ] {
        assert_eq!(head.matches(line).count(), 1, "{line}");
    }
    assert!(!head.contains("of-the-caller"), "{head}");
}

#[tokio::test]
async fn the_version_of_the_protocol_has_a_default() {
    let stub = StubServer::saying(json("200 OK", ANSWER));
    engine(&stub).complete_chat(native_request(&[])).await.unwrap();
    assert!(seen_request(&stub).contains("\r\nanthropic-version: 2023-06-01\r\n"));
}

#[tokio::test]
async fn a_stream_brings_every_event_with_its_own_bytes() {
    let events = [
        r#"{"type":"message_start","message":{"id":"m1","usage":{"input_tokens":3,"output_tokens":1}}}"#,
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"novel"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"novel_delta","say":"Hi"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"novel_reason"},"usage":{"output_tokens":2}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let stub = StubServer::saying(sse(&events));
    let mut stream = engine(&stub).stream_chat(native_request(&[])).await.unwrap();
    let (mut passed, mut total) = (Vec::new(), None);
    while let Some(event) = stream.next().await {
        match event.unwrap() {
            ChatEvent::Chunk(chunk) => passed.push(chunk.native.unwrap().data.get().to_owned()),
            ChatEvent::Usage(usage) => total = Some((usage.prompt(), usage.completion())),
            _ => {}
        }
    }
    let forwarded = [events[0], events[2], events[3], events[4], events[5]];
    assert_eq!(passed, forwarded);
    assert_eq!(total, Some((3, 2)));
    assert!(seen_request(&stub).ends_with(SENT));
}

#[tokio::test]
async fn the_upstreams_own_words_and_its_overload_reach_the_caller() {
    let error = |kind: &str, message: &str| {
        format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}}}}"#)
    };
    let words = "thinking: Extra inputs are not permitted";
    for (status, body, expected) in [
        (
            "400 Bad Request",
            error("invalid_request_error", words),
            EngineError::Rejected { message: words.to_owned() },
        ),
        (
            "529 Overloaded",
            error("overloaded_error", "Overloaded"),
            EngineError::ServiceOverloaded { retry_after: None },
        ),
        (
            "429 Too Many Requests",
            error("rate_limit_error", "Slow down"),
            EngineError::Overloaded { retry_after: None },
        ),
    ] {
        let stub = StubServer::saying(json(status, &body));
        let answer = engine(&stub).complete_chat(native_request(&[])).await;
        assert_eq!(answer.unwrap_err(), expected, "{status}");
        let stream = engine(&stub).stream_chat(native_request(&[])).await;
        assert_eq!(stream.err().unwrap(), expected, "{status}");
    }
}

#[tokio::test]
async fn only_requests_of_the_same_protocol_are_passed_through() {
    let stub = StubServer::saying(json("200 OK", ANSWER));
    let engine = engine(&stub);
    assert!(engine.passes_through(NativeProtocol::Messages));
    assert!(!engine.passes_through(NativeProtocol::Responses));
    let foreign = ChatRequest::clone(&native_request(&[]));
    let native = foreign.native.as_deref().unwrap().clone();
    let native = NativeRequest { protocol: NativeProtocol::Responses, ..native };
    let foreign = ChatRequest { native: Some(Arc::new(native)), ..foreign };
    let answer = engine.complete_chat(Arc::new(foreign)).await.unwrap();
    assert!(answer.native.is_none());
    assert!(seen_request(&stub).contains("Hello"));
}
