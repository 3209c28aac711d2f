//! Tests of `/messages` with a model whose provider gets a translated chat.

use axum::body::Body;
use axum::http::Method;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::{TestClient, TestReply};
use testkit::upstream::{UpstreamScript, build_chunk, build_completion};

pub(crate) const PATH: &str = "/api/v1/messages";
/// The price of a search, in nano-dollars.
const SEARCH_PRICE: i64 = 10_000_000;

pub(crate) fn ask(more: Value) -> Value {
    let mut body = json!({"model": "kimi-k3", "max_tokens": 100,
        "messages": [{"role": "user", "content": "Hi"}]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

pub(crate) async fn post(client: &TestClient, path: &str, body: &Value) -> TestReply {
    let client = client.with("content-type", "application/json");
    client.send_raw(Method::POST, path, Body::from(body.to_string())).await
}

/// The events of a stream. Checks that each has its type as its name.
fn read_events(reply: &TestReply) -> Vec<Value> {
    assert_eq!(reply.status, 200, "{}", reply.text());
    let text = reply.text();
    let event = |event: &str| {
        let (name, data) = event.split_once('\n').unwrap();
        let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(name, format!("event: {}", data["type"].as_str().unwrap()));
        data
    };
    text.split_terminator("\n\n").map(event).collect()
}

fn usage() -> Value {
    json!({"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23,
        "prompt_tokens_details": {"cached_tokens": 15}})
}

#[tokio::test]
async fn a_conversation_is_answered_in_the_protocols_form_and_charged() {
    let app = TestApp::start().await;
    app.upstream.queue_script(UpstreamScript::json(200, &build_completion("Hello", &usage())));
    let body = ask(json!({
        "system": [{"type": "text", "text": "x-anthropic-billing-header: cc_version=2;"},
            {"type": "text", "text": "Be kind", "cache_control": {"type": "ephemeral"}}],
        "metadata": {"user_id": "{\"device_id\":\"d\"}"},
    }));
    let reply = post(&app.admin(), "/api/v1/messages?beta=true", &body).await;
    let message = reply.ok_json();
    assert_eq!((&message["type"], &message["role"]), (&json!("message"), &json!("assistant")));
    assert_eq!(message["content"], json!([{"type": "text", "text": "Hello"}]));
    assert_eq!(message["stop_reason"], "end_turn");
    assert_eq!(message["usage"]["input_tokens"], 5, "net of the cache");
    assert_eq!(message["usage"]["cache_read_input_tokens"], 15);
    assert_eq!(message["usage"]["cache_creation_input_tokens"], 0);
    assert_eq!(message["id"], format!("msg_{}", reply.header("request-id")));
    let seen = app.upstream.received_bodies()[0].to_string();
    assert!(!seen.contains("billing") && !seen.contains("device_id"), "{seen}");
    assert!(!seen.contains("Be brief."), "the operator's prompt is not added: {seen}");
    assert!(seen.contains("Be kind") && seen.contains("\"max_tokens\":100"), "{seen}");
    assert!(0 < app.verify_spent().await.nanos());
}

#[tokio::test]
async fn a_stream_has_the_protocols_events_and_is_charged() {
    let app = TestApp::start().await;
    let call = json!({"tool_calls": [{"index": 0, "id": "c1", "type": "function",
        "function": {"name": "f", "arguments": "{\"a\":1}"}}]});
    let mut events = vec![
        build_chunk(&json!({"reasoning_content": "Hm"}), None).to_string(),
        build_chunk(&json!({"content": "Let me see"}), None).to_string(),
        build_chunk(&call, None).to_string(),
        build_chunk(&json!({}), Some("stop")).to_string(),
    ];
    events.push(json!({"id": "up-1", "choices": [], "usage": usage()}).to_string());
    events.push("[DONE]".to_owned());
    app.upstream.queue_script(UpstreamScript::events(events));
    let tools = json!([{"name": "f", "input_schema": {"type": "object"}}]);
    let reply = post(&app.admin(), PATH, &ask(json!({"stream": true, "tools": tools}))).await;
    let events = read_events(&reply);
    let kinds: Vec<&str> = events.iter().map(|it| it["type"].as_str().unwrap()).collect();
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    let thinking = [block[0], block[1], block[1], block[2]];
    let expected =
        [&["message_start"], &thinking[..], &block, &block, &["message_delta", "message_stop"]];
    assert_eq!(kinds, expected.concat());
    assert_eq!(events[9]["delta"]["partial_json"], "{\"a\":1}");
    let end = &events[11];
    assert_eq!(end["delta"]["stop_reason"], "tool_use", "although the upstream said stop");
    assert_eq!(end["usage"]["input_tokens"], 5);
    assert!(events[0]["message"]["usage"]["input_tokens"].as_u64().unwrap() > 0);
    assert!(0 < app.verify_spent().await.nanos());
    assert_eq!(reply.header("content-type"), "text/event-stream");
}

#[tokio::test]
async fn thinking_comes_back_to_the_model_with_the_next_turn() {
    let app = TestApp::start().await;
    let mut answer = build_completion("So.", &usage());
    answer["choices"][0]["message"]["reasoning_content"] = json!("Because");
    app.upstream.queue_script(UpstreamScript::json(200, &answer));
    let thinking = json!({"type": "adaptive", "display": "omitted"});
    let message = post(&app.admin(), PATH, &ask(json!({"thinking": thinking}))).await.ok_json();
    assert_eq!(message["content"][0]["thinking"], "");
    let turn = |content: &Value| {
        json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": content},
            {"role": "user", "content": "And?"}])
    };
    let next = ask(json!({"messages": turn(&message["content"])}));
    post(&app.admin(), PATH, &next).await.ok_json();
    assert_eq!(app.upstream.received_bodies()[1]["messages"][1]["reasoning_content"], "Because");
    let mut foreign = message["content"].clone();
    foreign[0]["signature"] = json!("EqoBCkgIARABGAIiQ");
    foreign[0]["thinking"] = json!("Forged");
    post(&app.admin(), PATH, &ask(json!({"messages": turn(&foreign)}))).await.ok_json();
    let seen = app.upstream.received_bodies()[2].to_string();
    assert!(!seen.contains("Forged"), "{seen}");
}

#[tokio::test]
async fn an_upstream_that_breaks_off_is_an_error_event() {
    let app = TestApp::start().await;
    let script = UpstreamScript::word_stream(&["Hello ", "there"], None);
    let cut = script.body().len() / 2;
    app.upstream.queue_script(script.break_after(cut));
    let events = read_events(&post(&app.admin(), PATH, &ask(json!({"stream": true}))).await);
    let last = events.last().unwrap();
    assert_eq!((&last["type"], &last["error"]["type"]), (&json!("error"), &json!("api_error")));
    assert_eq!(events[0]["type"], "message_start");
}

#[tokio::test]
async fn the_search_tool_searches_here_and_is_charged() {
    let app = TestApp::start().await;
    post(&app.admin(), PATH, &ask(json!({}))).await.ok_json();
    let tokens = app.verify_spent().await.nanos();
    app.site.put_results(json!([
        {"url": "https://a.example/", "title": "Ferries", "content": "They leave at seven."},
        {"url": "https://b.example/", "title": "Other", "content": "No."},
    ]));
    let tool = json!({"type": "web_search_20250305", "name": "web_search", "max_uses": 8,
        "blocked_domains": ["b.example"]});
    let body = ask(json!({"tools": [tool], "tool_choice": {"type": "auto"}}));
    let message = post(&app.admin(), PATH, &body).await.ok_json();
    let content = &message["content"];
    assert_eq!(content[0]["type"], "server_tool_use");
    assert!(content[0]["id"].as_str().unwrap().starts_with("srvtoolu_"));
    assert_eq!(content[1]["type"], "web_search_tool_result");
    assert_eq!(content[1]["tool_use_id"], content[0]["id"]);
    assert_eq!(content[1]["content"].as_array().unwrap().len(), 1, "one domain is blocked");
    assert_eq!(content[1]["content"][0]["url"], "https://a.example/");
    assert_eq!(content[2]["text"], "Hello there!");
    assert_eq!(message["usage"]["server_tool_use"], json!({"web_search_requests": 1}));
    let seen = app.upstream.received_bodies()[1].clone();
    assert!(seen.to_string().contains("They leave at seven."), "{seen}");
    assert_eq!(seen["tools"], Value::Null, "the model gets no tool for it");
    assert_eq!(app.verify_spent().await.nanos(), 2 * tokens + SEARCH_PRICE);
    // The blocks can be sent back.
    let messages = json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": content},
        {"role": "user", "content": "Sure?"}]);
    post(&app.admin(), PATH, &ask(json!({"messages": messages}))).await.ok_json();
}

#[tokio::test]
async fn tokens_are_counted_for_free_and_in_bursts() {
    let app = TestApp::start().await;
    let path = "/v1/messages/count_tokens";
    let count = async |more: Value| {
        post(&app.admin(), path, &ask(more)).await.ok_json()["input_tokens"].as_u64().unwrap()
    };
    let plain = count(json!({"tools": []})).await;
    assert!(0 < plain);
    assert!(plain < count(json!({"system": "Be very kind to everyone"})).await);
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    assert!(plain < count(json!({"tools": [{"name": "Read", "input_schema": schema}]})).await);
    for _ in 0..40 {
        assert_eq!(post(&app.admin(), path, &ask(json!({}))).await.status, 200);
    }
    let reply = post(&app.admin(), path, &ask(json!({}))).await;
    assert_eq!(reply.header("anthropic-ratelimit-requests-limit"), "600");
    assert!(app.upstream.received_bodies().is_empty());
    assert_eq!(app.verify_spent().await.nanos(), 0);
    let bad = ask(json!({"messages": [{"role": "user", "content": [{"type": "hologram"}]}]}));
    assert_eq!(post(&app.admin(), path, &bad).await.status, 400);
}

#[tokio::test]
async fn a_stop_sequence_is_told_if_the_provider_names_it() {
    let app = TestApp::start().await;
    let mut answer = build_completion("So", &usage());
    answer["choices"][0]["stop_reason"] = json!("END");
    app.upstream.queue_script(UpstreamScript::json(200, &answer));
    let body = json!({"stop_sequences": ["END", "X"]});
    let message = post(&app.admin(), PATH, &ask(body.clone())).await.ok_json();
    assert_eq!(
        (&message["stop_reason"], &message["stop_sequence"]),
        (&json!("stop_sequence"), &json!("END"))
    );
    let mut last = build_chunk(&json!({}), Some("stop"));
    last["choices"][0]["matched_stop"] = json!("X");
    let words = build_chunk(&json!({"content": "So"}), None);
    let events = [words.to_string(), last.to_string(), "[DONE]".to_owned()];
    app.upstream.queue_script(UpstreamScript::events(events));
    let mut body = ask(body);
    body["stream"] = json!(true);
    let events = read_events(&post(&app.admin(), PATH, &body).await);
    let delta = &events[events.len() - 2]["delta"];
    assert_eq!(delta, &json!({"stop_reason": "stop_sequence", "stop_sequence": "X"}));
    // A provider that names none: the answer is told as ended by itself.
    app.upstream.queue_script(UpstreamScript::json(200, &build_completion("So", &usage())));
    body["stream"] = json!(false);
    let message = post(&app.admin(), PATH, &body).await.ok_json();
    assert_eq!(
        (&message["stop_reason"], &message["stop_sequence"]),
        (&json!("end_turn"), &Value::Null)
    );
}
