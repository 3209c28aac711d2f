//! Tests the Responses API: requests and events that are passed through, and failures.

use std::sync::Arc;

use bytes::Bytes;
use engine::{
    AssistantTurn, ChatChunk, ChatContent, ChatEngine, ChatEvent, ChatMessage, ChatRequest,
    CompletionPrompt, EngineError, NativeHeader, NativeProtocol, NativeRequest, PromptText,
    ToolCall,
};
use futures_util::StreamExt;
use serde_json::{Map, Value, json};

use super::golden::{decode, protocol_of, streams};
use super::stub::{StubRecord, StubServer, json as reply, patient, sse};
use super::{requests, tell};
use crate::openai_responses::{ResponseDecoder, ResponsesEncoder, read_response};
use crate::{ChatModelSettings, OpenAiChatApi, ProviderProtocol, ServerQuirks};

/// With spaces, an escape and a field of the future, none of which may change.
const BODY: &str = r#"{ "input":"Gr\u00fcezi", "model" : "ours",  "stream":true, "knob":1e2 }"#;
const ANSWER: &str = r#"{ "id":"resp_1", "status":"completed",  "output":[{"type":"message",
    "content":[{"type":"output_text","text":"Hi"}]}], "knob" : 1e2,
    "usage":{"input_tokens":5,"output_tokens":2}}"#;

fn engine_at(stub: &StubServer) -> Arc<dyn ChatEngine> {
    let quirks = ServerQuirks { chat_api: OpenAiChatApi::Responses, ..ServerQuirks::OPENAI };
    let upstream = stub.upstream_with(ProviderProtocol::OpenAi(quirks), patient());
    let model = ChatModelSettings {
        upstream_id: "gpt \"5\"",
        completion_tokens_max: 100,
        has_reasoning: true,
    };
    upstream.create_model_engine(model).unwrap()
}

fn native(protocol: NativeProtocol) -> Arc<ChatRequest> {
    let start = BODY.find("\"ours\"").unwrap();
    let header = NativeHeader { name: "x-trait".to_owned(), value: "bold".to_owned() };
    let native = NativeRequest {
        protocol,
        body: Bytes::from_static(BODY.as_bytes()),
        model_span: start..start + "\"ours\"".len(),
        headers: vec![header],
    };
    Arc::new(ChatRequest { native: Some(Arc::new(native)), ..requests::user("Grüezi") })
}

fn request_text(stub: &StubServer) -> String {
    match stub.next_seen() {
        StubRecord::Request(request) => request,
        StubRecord::Close => panic!("the connection was closed"),
    }
}

fn chunks(events: Vec<ChatEvent>) -> Vec<ChatChunk> {
    let chunk = |event| match event {
        ChatEvent::Chunk(chunk) => Some(chunk),
        _ => None,
    };
    events.into_iter().filter_map(chunk).collect()
}

/// The data of the events of a stream.
fn data_lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let lines = text.lines().filter_map(|line| line.strip_prefix("data: "));
    lines.filter(|data| *data != "[DONE]").map(str::to_owned).collect()
}

#[test]
fn each_event_is_passed_on_byte_for_byte_and_decoded_as_if_it_were_not() {
    for (path, bytes) in streams() {
        if protocol_of(&path) != "responses" {
            continue;
        }
        let (events, outcome) = decode(ResponseDecoder::passing_events(), &[&bytes]);
        let passed = chunks(events);
        let data: Vec<&str> =
            passed.iter().map(|it| it.native.as_ref().unwrap().data.get()).collect();
        let sent = data_lines(&bytes);
        assert_eq!(data, sent[..data.len()], "{path:?}");
        for chunk in &passed {
            let kept = chunk.native.as_ref().unwrap();
            let value: Value = serde_json::from_str(kept.data.get()).unwrap();
            assert_eq!(value["type"], kept.kind.as_str());
        }
        assert!(outcome.is_err() || data.len() == sent.len(), "{path:?}");
        let (plain, plain_outcome) = decode(ResponseDecoder::default(), &[&bytes]);
        assert_eq!(outcome, plain_outcome, "{path:?}");
        let deltas = |chunks: Vec<ChatChunk>| -> Vec<String> {
            let deltas = chunks.into_iter().flat_map(|chunk| chunk.deltas);
            deltas.map(|delta| format!("{delta:?}")).collect()
        };
        assert_eq!(deltas(passed), deltas(chunks(plain)), "{path:?}");
    }
}

#[test]
fn an_event_of_several_lines_is_passed_on_as_one() {
    let text = "data: {\"type\":\"response.odd\",\ndata: \"a\": [1,\ndata: 2]}\n\n";
    let (events, _) = decode(ResponseDecoder::passing_events(), &[text.as_bytes()]);
    let passed = chunks(events);
    assert_eq!(passed.len(), 1);
    let kept = passed[0].native.as_ref().unwrap();
    assert_eq!(kept.data.get(), r#"{"type":"response.odd","a":[1,2]}"#);
    assert!(passed[0].deltas.is_empty());
}

#[tokio::test]
async fn a_request_of_the_same_protocol_is_sent_with_only_its_model_replaced() {
    let stub = StubServer::saying(sse(&data_lines(
        &std::fs::read(super::golden::folder("stream").join("responses-text.sse")).unwrap(),
    )
    .iter()
    .map(String::as_str)
    .collect::<Vec<_>>()));
    let engine = engine_at(&stub);
    assert!(engine.passes_through(NativeProtocol::Responses));
    assert!(!engine.passes_through(NativeProtocol::Messages));
    assert!(!engine.supports_text_completion());
    let stream = engine.stream_chat(native(NativeProtocol::Responses)).await.unwrap();
    let events: Vec<ChatEvent> = stream.map(Result::unwrap).collect().await;
    assert!(matches!(events.last(), Some(ChatEvent::Usage(usage)) if usage.cached() == 16));
    assert!(chunks(events).iter().all(|chunk| chunk.native.is_some()));
    let request = request_text(&stub);
    assert!(request.starts_with("POST /v1/responses "), "{request}");
    assert!(request.contains("\r\nx-trait: bold\r\n"), "{request}");
    let body = request.split_once("\r\n\r\n").unwrap().1;
    assert_eq!(body, BODY.replace("\"ours\"", r#""gpt \"5\"""#));
}

#[tokio::test]
async fn a_whole_response_to_a_passed_request_comes_back_unchanged() {
    let stub = StubServer::saying(reply("200 OK", ANSWER));
    let answer = engine_at(&stub).complete_chat(native(NativeProtocol::Responses)).await.unwrap();
    assert_eq!(answer.native.as_ref().unwrap().get(), ANSWER);
    assert_eq!(answer.choices[0].content.as_deref(), Some("Hi"));
    assert_eq!(answer.usage.unwrap().completion(), 2);
}

#[tokio::test]
async fn a_request_of_another_protocol_is_translated() {
    let stub = StubServer::saying(reply("200 OK", ANSWER));
    let engine = engine_at(&stub);
    let answer = engine.complete_chat(native(NativeProtocol::Messages)).await.unwrap();
    assert!(answer.native.is_none());
    let request = request_text(&stub);
    let body: Value = serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(
        body,
        json!({
            "model": "gpt \"5\"",
            "input": [{"type": "message", "role": "user", "content": "Grüezi"}],
            "include": ["reasoning.encrypted_content"], "store": false,
        })
    );
    // A server that ignores `stream` is read all the same, unless its events are to be passed on.
    let stream = engine.stream_chat(native(NativeProtocol::Messages)).await.unwrap();
    let told: Vec<String> = stream.map(|it| tell::event(&it.unwrap())).collect().await;
    assert_eq!(told[1], "rewritten [0] opens content \"Hi\" finish stop");
    let outcome = engine.stream_chat(native(NativeProtocol::Responses)).await;
    assert!(matches!(outcome.map(|_| ()), Err(EngineError::BadAnswer { .. })));
}

#[tokio::test]
async fn a_response_that_fails_before_any_output_fails_before_the_stream_begins() {
    let created = r#"{"type":"response.created","response":{"id":"r","status":"in_progress"}}"#;
    let failed = r#"{"type":"response.failed","response":{"id":"r","status":"failed",
        "error":{"code":"rate_limit_exceeded","message":"Slow down."}}}"#
        .replace('\n', "");
    let stub = StubServer::saying(sse(&[created, &failed]));
    for protocol in [NativeProtocol::Responses, NativeProtocol::Messages] {
        let outcome = engine_at(&stub).stream_chat(native(protocol)).await;
        let expected = EngineError::Overloaded { retry_after: None };
        assert_eq!(outcome.map(|_| ()), Err(expected), "another engine can still be tried");
    }
}

#[tokio::test]
async fn an_error_status_is_mapped_as_for_other_protocols() {
    let body = r#"{"error":{"code":"context_length_exceeded","message":"Too long."}}"#;
    let stub = StubServer::saying(reply("400 Bad Request", body));
    let outcome = engine_at(&stub).stream_chat(native(NativeProtocol::Responses)).await;
    let expected = EngineError::ContextOverflow { message: "Too long.".to_owned() };
    assert_eq!(outcome.map(|_| ()), Err(expected));
}

#[tokio::test]
async fn a_text_to_continue_is_rejected() {
    let texts = vec![PromptText::Text("fn add(".to_owned())];
    let prompt = ChatMessage::Prompt(CompletionPrompt { texts, suffix: None });
    let request = ChatRequest { messages: vec![prompt], ..ChatRequest::default() };
    let stub = StubServer::saying(reply("200 OK", ANSWER));
    let outcome = engine_at(&stub).complete_chat(Arc::new(request)).await;
    assert!(matches!(outcome, Err(EngineError::Rejected { .. })));
    assert_eq!(stub.requests_seen(), 0);
}

#[tokio::test]
async fn several_choices_are_several_requests() {
    let stub = StubServer::saying(reply("200 OK", ANSWER));
    let request = ChatRequest { choices: Some(2), ..requests::user("Hello") };
    let answer = engine_at(&stub).complete_chat(Arc::new(request)).await.unwrap();
    assert_eq!(answer.choices.len(), 2);
    assert_eq!(stub.requests_seen(), 2);
}

#[test]
fn encrypted_reasoning_goes_back_with_its_turn() {
    let path = super::golden::folder("answer").join("responses-everything.json");
    let answer = read_response(&std::fs::read(path).unwrap()).unwrap();
    let choice = answer.choices.into_iter().next().unwrap();
    let turn = |content: Option<&str>, tool_calls: Vec<ToolCall>| AssistantTurn {
        content: content.map(|text| ChatContent::Text(text.to_owned())),
        tool_calls,
        reasoning_details: choice.reasoning_details.clone(),
        ..AssistantTurn::default()
    };
    let input_of = |turn: AssistantTurn| -> Value {
        let mut request = requests::user("Weather?");
        request.messages.push(ChatMessage::Assistant(turn));
        let encoder = ResponsesEncoder { model: "m", has_reasoning: true, output_tokens_min: 1 };
        let body = encoder.encode_whole(&request).unwrap();
        serde_json::from_slice::<Value>(&body).unwrap()["input"].take()
    };
    let reasoning = json!({
        "type": "reasoning", "id": "rs_0", "encrypted_content": "ZW5j",
        "summary": [
            {"type": "summary_text", "text": "Look at Bern."},
            {"type": "summary_text", "text": "And Basel."},
        ],
    });
    let call = ToolCall {
        id: "call_a".to_owned(),
        name: "weather".to_owned(),
        arguments: String::new(),
        extra: Map::new(),
    };
    let input = input_of(turn(Some("Let me look."), vec![call]));
    assert_eq!(input[1], reasoning);
    assert_eq!(
        input[2],
        json!({"type": "message", "role": "assistant", "content": "Let me look."})
    );
    let called = json!({"type": "function_call", "call_id": "call_a", "name": "weather",
        "arguments": "{}"});
    assert_eq!(input[3], called);
    let input = input_of(turn(None, Vec::new()));
    assert_eq!(input.as_array().unwrap().len(), 1, "the API rejects reasoning before nothing");
}

#[test]
fn system_messages_before_all_others_are_instructions_and_later_ones_stay_in_place() {
    let system = |text: &str| ChatMessage::System {
        content: ChatContent::Text(text.to_owned()),
        name: None,
    };
    let body_of = |messages: Vec<ChatMessage>| -> Value {
        let request = ChatRequest { messages, ..ChatRequest::default() };
        let encoder = ResponsesEncoder { model: "m", has_reasoning: false, output_tokens_min: 1 };
        serde_json::from_slice(&encoder.encode_whole(&request).unwrap()).unwrap()
    };
    let mut messages = vec![system("Be brief."), system("Be kind.")];
    messages.extend(requests::user("Hello").messages);
    messages.push(system("Be quick."));
    let body = body_of(messages);
    assert_eq!(body["instructions"], "Be brief.\n\nBe kind.");
    assert_eq!(body["input"][0]["role"], "user");
    let later = json!({"type": "message", "role": "developer", "content": "Be quick."});
    assert_eq!(body["input"][1], later);
    let body = body_of(vec![system("Write a poem.")]);
    assert_eq!(body.get("instructions"), None, "the API requires some input");
    assert_eq!(body["input"][0]["role"], "developer");
}

#[tokio::test]
async fn fields_that_the_api_lacks_are_named_unless_the_request_is_passed_through() {
    let stub = StubServer::saying(reply("200 OK", ANSWER));
    let engine = engine_at(&stub);
    let (_, request) = requests::all().into_iter().find(|(name, _)| *name == "sampling").unwrap();
    let expected = [
        "top_k",
        "min_p",
        "min_temp",
        "max_temp",
        "frequency_penalty",
        "presence_penalty",
        "repetition_penalty",
        "seed",
        "stop",
        "stop_token_ids",
        "mirostat",
        "model",
        "stream",
        "user",
        "chat_template_kwargs",
    ];
    assert_eq!(engine.dropped_fields(&request), expected);
    let passed = native(NativeProtocol::Responses);
    let request = ChatRequest { native: passed.native.clone(), ..request };
    assert!(engine.dropped_fields(&request).is_empty());
}
