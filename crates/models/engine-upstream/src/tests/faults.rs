//! Engines over a real socket: success, and each kind of failure.

use std::sync::Arc;
use std::time::Duration;

use engine::{ChatStream, EngineError};
use expect_test::{Expect, expect};
use futures_util::StreamExt;

use super::stub::{StubAction, StubRecord, StubServer, chunked_sse, json, patient, settings, sse};
use super::{requests, tell};
use crate::{
    ProviderProtocol, ProviderSetupError, ServerQuirks, ThinkingStyle, UpstreamProvider,
    UpstreamTimeouts,
};

const ROLE: &str = r#"{"id":"1","choices":[{"index":0,"delta":{"role":"assistant"}}]}"#;
const HI: &str = r#"{"id":"1","choices":[{"index":0,"delta":{"content":"Hi"}}]}"#;
const STOP: &str = r#"{"id":"1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const ANSWER: &str = r#"{"id":"1","choices":[{"index":0,"message":{"content":"Hi"},
    "finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}"#;

async fn read(stream: Result<ChatStream, EngineError>) -> String {
    let mut stream = match stream {
        Ok(stream) => stream,
        Err(error) => return format!("refused: {error}\n"),
    };
    let mut events = Vec::new();
    while let Some(item) = stream.next().await {
        match item {
            Ok(event) => events.push(event),
            Err(error) => {
                assert!(stream.next().await.is_none(), "something follows an error");
                return tell::events(&events, &Err(error));
            }
        }
    }
    tell::events(&events, &Ok(()))
}

async fn check_stream(stub: StubServer, expected: Expect) {
    let chat = stub.upstream().create_chat_engine("m", 100).unwrap();
    expected.assert_eq(&read(chat.stream_chat(Arc::new(requests::user("Hello"))).await).await);
}

async fn check_answer(stub: StubServer, expected: Expect) {
    let chat = stub.upstream().create_chat_engine("m", 100).unwrap();
    let told = match chat.complete_chat(Arc::new(requests::user("Hello"))).await {
        Ok(answer) => tell::answer(&answer),
        Err(error) => format!("{error:?}"),
    };
    expected.assert_eq(&told);
}

async fn check_impatient(stub: StubServer, timeouts: UpstreamTimeouts, expected: Expect) {
    let chat = stub
        .upstream_with(ProviderProtocol::OpenAi(ServerQuirks::VLLM), timeouts)
        .create_chat_engine("m", 100)
        .unwrap();
    expected.assert_eq(&read(chat.stream_chat(Arc::new(requests::user("Hello"))).await).await);
}

#[tokio::test]
async fn a_whole_answer_comes_back() {
    let expected = expect![[r#"
        id Some("1")
        [0] finish stop
          content "Hi"
        usage prompt 1 (cached 0, written 0) completion 2 (reasoning 0)
    "#]];
    check_answer(StubServer::saying(json("200 OK", ANSWER)), expected).await;
}

#[tokio::test]
async fn a_stream_comes_back() {
    let expected = expect![[r#"
        id 1
        verbatim [0] opens
        verbatim [0] content "Hi"
        verbatim [0] finish stop
        end
    "#]];
    check_stream(StubServer::saying(sse(&[ROLE, HI, STOP, "[DONE]"])), expected).await;
}

#[tokio::test]
async fn the_request_carries_the_key_the_headers_and_the_model() {
    let stub = StubServer::saying(json("200 OK", ANSWER));
    let chat = stub.upstream().create_chat_engine("m", 100).unwrap();
    chat.complete_chat(Arc::new(requests::user("Hello"))).await.unwrap();
    let StubRecord::Request(request) = stub.next_seen() else { panic!("no request came") };
    let request = request.replace(&stub.address.to_string(), "HOST");
    expect![[r#"
        POST /v1/chat/completions HTTP/1.1
        accept: */*
        content-type: application/json
        content-length: 60
        host: HOST
        authorization: Bearer sk-secret
        x-extra: yes

        {"model":"m","messages":[{"role":"user","content":"Hello"}]}"#]]
    .assert_eq(&request.replace("\r\n", "\n"));
}

#[tokio::test]
async fn anthropic_has_its_own_path_and_headers() {
    let body = r#"{"id":"m","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn"}"#;
    let stub = StubServer::saying(json("200 OK", body));
    let upstream = stub.upstream_with(
        ProviderProtocol::Anthropic { thinking: ThinkingStyle::Budget, caches_system_prompt: true },
        patient(),
    );
    upstream
        .create_chat_engine("claude", 100)
        .unwrap()
        .complete_chat(Arc::new(requests::user("Hello")))
        .await
        .unwrap();
    let StubRecord::Request(request) = stub.next_seen() else { panic!("no request came") };
    assert!(request.starts_with("POST /v1/messages HTTP/1.1\r\n"));
    assert!(request.contains("\r\nx-api-key: sk-secret\r\n"));
    assert!(request.contains("\r\nanthropic-version: 2023-06-01\r\n"));
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_read_as_if_it_did() {
    let expected = expect![[r#"
        id 1
        rewritten [0] opens content "Hi" finish stop
        usage prompt 1 (cached 0, written 0) completion 2 (reasoning 0)
        end
    "#]];
    check_stream(StubServer::saying(json("200 OK", ANSWER)), expected).await;
}

#[tokio::test]
async fn a_close_before_the_end_is_an_error() {
    let expected = expect![[r#"
        id 1
        verbatim [0] opens
        verbatim [0] content "Hi"
        error: the engine gave a bad answer: it ended before it was complete
    "#]];
    check_stream(StubServer::saying(sse(&[ROLE, HI])), expected).await;
}

#[tokio::test]
async fn a_done_mark_before_the_end_is_an_error() {
    let expected = expect![[r#"
        id 1
        verbatim [0] opens
        error: the engine gave a bad answer: it ended before it was complete
    "#]];
    check_stream(StubServer::saying(sse(&[ROLE, "[DONE]"])), expected).await;
}

#[tokio::test]
async fn a_body_that_breaks_off_in_the_middle_is_an_error() {
    let expected = expect![[r#"
        id 1
        verbatim [0] opens
        error: the engine gave a bad answer: error reading a body from connection: connection closed before message completed
    "#]];
    check_stream(StubServer::saying(chunked_sse(&[ROLE])), expected).await;
}

#[tokio::test]
async fn a_reset_in_the_middle_is_an_error() {
    let said = chunked_sse(&[ROLE]);
    let stub = StubServer::start(move |_| vec![StubAction::Say(said.clone()), StubAction::Reset]);
    let chat = stub.upstream().create_chat_engine("m", 100).unwrap();
    let told = read(chat.stream_chat(Arc::new(requests::user("Hello"))).await).await;
    // A reset may overtake data sent before it.
    let is_error = told.contains("the engine gave a bad answer: ");
    assert!(is_error, "{told}");
}

#[tokio::test]
async fn a_stream_without_a_single_event_is_refused() {
    let expected = expect![[r#"
        refused: the engine gave a bad answer: it ended before anything was produced
    "#]];
    check_stream(StubServer::saying(sse(&[])), expected).await;
}

#[tokio::test]
async fn a_connection_closed_without_an_answer_is_refused() {
    let stub = StubServer::start(|_| Vec::new());
    let chat = stub.upstream().create_chat_engine("m", 100).unwrap();
    let error = chat.complete_chat(Arc::new(requests::user("Hello"))).await.unwrap_err();
    assert!(matches!(error, EngineError::BadAnswer { .. }), "{error:?}");
}

#[tokio::test]
async fn events_before_a_malformed_one_are_still_given() {
    let expected = expect![[r#"
        id 1
        verbatim [0] opens
        verbatim [0] content "Hi"
        error: the engine gave a bad answer: an event is not a chunk: key must be a string at line 1 column 2
    "#]];
    check_stream(StubServer::saying(sse(&[ROLE, HI, "{nonsense"])), expected).await;
}

#[tokio::test]
async fn an_error_event_in_the_middle_is_an_error() {
    let expected = expect![[r#"
        id 1
        verbatim [0] opens
        error: the engine is overloaded
    "#]];
    let error = r#"{"error":{"message":"busy","type":"overloaded_error"}}"#;
    check_stream(StubServer::saying(sse(&[ROLE, error])), expected).await;
}

#[tokio::test]
async fn an_error_as_the_first_event_is_a_refusal() {
    let expected = expect![[r#"
        refused: the engine rejected the request
    "#]];
    let error = r#"{"error":{"message":"no","type":"invalid_request_error"}}"#;
    check_stream(StubServer::saying(sse(&[error])), expected).await;
}

#[tokio::test]
async fn overload_passes_on_how_long_to_wait() {
    let slow_down = "HTTP/1.1 429 Too Many Requests\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n";
    check_answer(StubServer::saying(slow_down), expect!["Overloaded { retry_after: Some(7s) }"])
        .await;
    let busy = json("503 Service Unavailable", r#"{"error":"busy"}"#);
    check_answer(StubServer::saying(busy), expect!["Overloaded { retry_after: None }"]).await;
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let moved = "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n";
    let expected = expect![[r#"Misconfigured { cause: "status 302" }"#]];
    check_answer(StubServer::saying(moved), expected).await;
}

#[tokio::test]
async fn a_compressed_answer_is_refused_unopened() {
    let zipped = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n\x1f\x0b";
    let expected =
        expect![[r#"BadAnswer { cause: "it is compressed although nobody asked for that" }"#]];
    check_answer(StubServer::saying(zipped), expected).await;
}

#[tokio::test]
async fn a_line_without_end_is_an_error() {
    let mut said = sse(&[ROLE]);
    said.extend_from_slice(&vec![b'x'; 9 * 1024 * 1024]);
    let expected = expect![[r#"
        id 1
        verbatim [0] opens
        error: the engine gave a bad answer: an event is longer than 8388608 bytes
    "#]];
    check_stream(StubServer::saying(said), expected).await;
}

#[tokio::test]
async fn a_whole_answer_without_end_is_an_error() {
    let mut said = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{".to_vec();
    said.resize(said.len() + 65 * 1024 * 1024, b' ');
    let expected = expect![[r#"BadAnswer { cause: "it is longer than 67108864 bytes" }"#]];
    check_answer(StubServer::saying(said), expected).await;
}

#[tokio::test]
async fn a_refused_connection_is_unreachable() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let settings =
        settings(&format!("http://{nobody}/v1"), ProviderProtocol::OpenAi(ServerQuirks::VLLM));
    let chat = UpstreamProvider::new(settings).unwrap().create_chat_engine("m", 100).unwrap();
    let error = chat.complete_chat(Arc::new(requests::user("Hello"))).await.unwrap_err();
    assert!(matches!(error, EngineError::Unreachable { .. }), "{error:?}");
    assert!(!error.to_string().contains("/v1"), "{error} tells the address");
}

#[tokio::test]
async fn a_slow_first_event_times_out_even_behind_comments() {
    let mut said = sse(&[]);
    said.extend_from_slice(b": still here\n\n");
    let stub =
        StubServer::start(move |_| vec![StubAction::Say(said.clone()), StubAction::AwaitClose]);
    let timeouts = UpstreamTimeouts { first_event: Duration::from_millis(50), ..patient() };
    let expected = expect![[r#"
        refused: the engine timed out before its first event
    "#]];
    check_impatient(stub, timeouts, expected).await;
    let silent = StubServer::start(|_| vec![StubAction::AwaitClose]);
    let expected = expect![[r#"
        refused: the engine timed out before its first event
    "#]];
    check_impatient(silent, timeouts, expected).await;
}

#[tokio::test]
async fn a_stall_in_the_middle_times_out() {
    let said = sse(&[ROLE]);
    let stub =
        StubServer::start(move |_| vec![StubAction::Say(said.clone()), StubAction::AwaitClose]);
    let timeouts = UpstreamTimeouts { next_event: Duration::from_millis(50), ..patient() };
    let expected = expect![[r#"
        id 1
        verbatim [0] opens
        error: the engine timed out in the middle of its answer
    "#]];
    check_impatient(stub, timeouts, expected).await;
}

#[tokio::test]
async fn a_whole_answer_that_never_comes_times_out() {
    let stub = StubServer::start(|_| vec![StubAction::AwaitClose]);
    let timeouts = UpstreamTimeouts { answer: Duration::from_millis(50), ..patient() };
    let chat = stub
        .upstream_with(ProviderProtocol::OpenAi(ServerQuirks::VLLM), timeouts)
        .create_chat_engine("m", 100)
        .unwrap();
    let error = chat.complete_chat(Arc::new(requests::user("Hello"))).await.unwrap_err();
    assert_eq!(error.to_string(), "the engine timed out before its answer");
}

/// The next event of the stub, without blocking the connection's task.
async fn next_seen(stub: StubServer) -> (StubServer, StubRecord) {
    let seen = tokio::task::spawn_blocking(move || {
        let seen = stub.next_seen();
        (stub, seen)
    });
    seen.await.unwrap()
}

#[tokio::test]
async fn dropping_a_stream_closes_the_connection() {
    let said = sse(&[ROLE]);
    let stub =
        StubServer::start(move |_| vec![StubAction::Say(said.clone()), StubAction::AwaitClose]);
    let chat = stub.upstream().create_chat_engine("m", 100).unwrap();
    let stream = chat.stream_chat(Arc::new(requests::user("Hello"))).await.unwrap();
    assert!(matches!(stub.next_seen(), StubRecord::Request(_)));
    drop(stream);
    assert_eq!(next_seen(stub).await.1, StubRecord::Close);
}

#[tokio::test]
async fn a_stream_read_to_its_end_leaves_the_connection_for_the_next() {
    let mut said = chunked_sse(&[ROLE, STOP, "[DONE]"]);
    said.extend_from_slice(b"0\r\n\r\n");
    let stub =
        StubServer::start(move |_| vec![StubAction::Say(said.clone()), StubAction::NextRequest]);
    let chat = stub.upstream().create_chat_engine("m", 100).unwrap();
    for _ in 0..3 {
        let told = read(chat.stream_chat(Arc::new(requests::user("Hello"))).await).await;
        assert!(told.ends_with("finish stop\nend\n"), "{told}");
    }
    assert_eq!(stub.connections(), 1);
}

#[tokio::test]
async fn dropping_a_request_closes_the_connection() {
    let stub = StubServer::start(|_| vec![StubAction::AwaitClose]);
    let chat = stub.upstream().create_chat_engine("m", 100).unwrap();
    let (stub, seen) = tokio::select! {
        answer = chat.complete_chat(Arc::new(requests::user("Hello"))) => panic!("{answer:?}"),
        seen = next_seen(stub) => seen,
    };
    assert!(matches!(seen, StubRecord::Request(_)));
    assert_eq!(next_seen(stub).await.1, StubRecord::Close);
}

#[test]
fn every_name_of_a_server_is_known() {
    for name in ServerQuirks::NAMES {
        assert!(ServerQuirks::from_name(name).is_some(), "{name} is offered and not known");
    }
    assert_eq!(ServerQuirks::from_name("unheard-of"), None);
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let protocol =
        ProviderProtocol::Anthropic { thinking: ThinkingStyle::Budget, caches_system_prompt: true };
    for base_url in ["", "127.0.0.1:8000", "ftp://example.com", "http://"] {
        let refused = UpstreamProvider::new(settings(base_url, protocol));
        assert!(
            matches!(refused, Err(ProviderSetupError::BaseUrl { .. })),
            "{base_url:?} is taken"
        );
    }
    let mut odd = settings("http://example.com", protocol);
    odd.api_key = Some("line\nbreak".to_owned());
    assert!(matches!(UpstreamProvider::new(odd), Err(ProviderSetupError::Header { .. })));
    let upstream = UpstreamProvider::new(settings("http://example.com", protocol)).unwrap();
    assert!(matches!(
        upstream.create_embedding_engine("m"),
        Err(ProviderSetupError::NoSuchWork { work: "embeddings", .. })
    ));
}
