//! Tests of chats with a model whose provider speaks the Responses API.

use expect_test::expect;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::stream::join_text;
use testkit::upstream::UpstreamScript;

use crate::chat::{PATH, ask};

const DETAILS: &str = r#"[{"type":"reasoning.summary","summary":"Greet.","id":"rs_1","format":"openai-responses-v1","index":0},{"type":"reasoning.encrypted","data":"ZW5j","id":"rs_1","format":"openai-responses-v1","index":0}]"#;

/// A service whose main provider serves chats through the Responses API.
async fn start() -> TestApp {
    TestApp::with_changed_fixture(|fixture| {
        let responses = "kind = \"openai\"\ndialect = \"openai\"\napi = \"responses\"";
        fixture.replacen("kind = \"openai\"", responses, 1)
    })
    .await
}

fn reasoning_item() -> Value {
    json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "ZW5j",
        "summary": [{"type": "summary_text", "text": "Greet."}]})
}

fn usage() -> Value {
    json!({"input_tokens": 20, "input_tokens_details": {"cached_tokens": 10},
        "output_tokens": 9, "output_tokens_details": {"reasoning_tokens": 6}, "total_tokens": 29})
}

fn whole_response() -> UpstreamScript {
    let text = json!({"type": "output_text", "text": "Hello there!", "annotations": []});
    let output = json!([reasoning_item(), {"type": "message", "content": [text]}]);
    UpstreamScript::json(
        200,
        &json!({"id": "resp_1", "status": "completed", "output": output, "usage": usage()}),
    )
}

fn item_event(kind: &str, index: u32, item: &Value) -> Value {
    json!({"type": format!("response.output_item.{kind}"), "output_index": index, "item": item})
}

fn text_event(text: &str) -> Value {
    json!({"type": "response.output_text.delta", "output_index": 1, "delta": text})
}

fn created() -> Value {
    let response = json!({"id": "resp_1", "status": "in_progress"});
    json!({"type": "response.created", "response": response})
}

/// The events of a response up to its last, which is `end`.
fn events(end: Value) -> Vec<Value> {
    vec![
        created(),
        item_event("done", 0, &reasoning_item()),
        item_event("added", 1, &json!({"type": "message", "content": []})),
        text_event("Hello "),
        text_event("there!"),
        end,
    ]
}

fn completed() -> Value {
    let response = json!({"id": "resp_1", "status": "completed", "usage": usage()});
    json!({"type": "response.completed", "response": response})
}

fn failed(code: &str, message: &str) -> Value {
    let error = json!({"code": code, "message": message});
    let response = json!({"id": "resp_1", "status": "failed", "error": error});
    json!({"type": "response.failed", "response": response})
}

/// 10 prompt tokens, 10 cached ones, and 9 of the answer.
const COST: i64 = 10 * 1_400 + 10 * 260 + 9 * 4_400;

#[tokio::test]
async fn a_chat_is_translated_both_ways_and_charged_with_cached_and_reasoning_tokens() {
    let app = start().await;
    app.upstream.queue_script(whole_response());
    let body = ask("kimi-k3", &json!({"max_tokens": 50, "stop": ["END"], "seed": 3}));
    let reply = app.admin().post(PATH, &body).await;
    let told = reply.ok_json();
    let message = &told["choices"][0]["message"];
    assert_eq!(message["content"], "Hello there!");
    assert_eq!(message["reasoning_content"], "Greet.");
    assert_eq!(message["reasoning_details"], serde_json::from_str::<Value>(DETAILS).unwrap());
    assert_eq!(told["usage"]["prompt_tokens_details"]["cached_tokens"], 10);
    assert_eq!(told["usage"]["completion_tokens_details"]["reasoning_tokens"], 6);
    assert_eq!(reply.header("x-service-dropped-parameters"), "seed, stop");
    assert!(app.upstream.heads()[0].starts_with("post /v1/responses "));
    expect![[r#"{"model":"kimi-k3","instructions":"Be brief.","input":[{"type":"message","role":"user","content":"Say hello"}],"max_output_tokens":50,"include":["reasoning.encrypted_content"],"store":false}"#]]
        .assert_eq(&app.upstream.received_bodies()[0].to_string());
    assert_eq!(app.verify_spent().await.nanos(), COST);
}

#[tokio::test]
async fn a_stream_is_translated_and_charged_once() {
    let app = start().await;
    app.upstream.queue_script(UpstreamScript::events(events(completed())));
    let mut stream = app.admin().open(PATH, &ask("kimi-k3", &json!({"stream": true}))).await;
    let told = stream.remaining_events().await;
    assert_eq!(join_text(&told), "Hello there!");
    assert_eq!(told.last().map(String::as_str), Some("[DONE]"));
    assert!(told.iter().any(|event| event.contains(DETAILS)), "{told:?}");
    assert_eq!(app.upstream.received_bodies()[0]["stream"], true);
    assert_eq!(app.verify_spent().await.nanos(), COST);
}

#[tokio::test]
async fn encrypted_reasoning_goes_back_to_the_provider_with_its_turn() {
    let app = start().await;
    app.upstream.queue_script(whole_response());
    let details: Value = serde_json::from_str(DETAILS).unwrap();
    let turn = json!({"role": "assistant", "content": "Hello", "reasoning_details": details});
    let messages = json!([{"role": "user", "content": "Hi"}, turn,
        {"role": "user", "content": "Again"}]);
    app.admin().post(PATH, &ask("kimi-k3", &json!({"messages": messages}))).await.ok_json();
    let input = &app.upstream.received_bodies()[0]["input"];
    assert_eq!(input[1], reasoning_item());
    assert_eq!(input[2], json!({"type": "message", "role": "assistant", "content": "Hello"}));
}

#[tokio::test]
async fn a_response_that_fails_before_its_output_costs_nothing() {
    for (code, status) in [
        ("context_length_exceeded", 400),
        ("invalid_prompt", 400),
        ("server_is_overloaded", 429),
        ("insufficient_quota", 503),
    ] {
        let app = start().await;
        let script = || UpstreamScript::events(vec![created(), failed(code, "No.")]);
        // More than once, in case it is tried again.
        (0..4).for_each(|_| app.upstream.queue_script(script()));
        let reply = app.admin().post(PATH, &ask("kimi-k3", &json!({"stream": true}))).await;
        assert_eq!(reply.status, status, "{code}: {}", reply.text());
        assert_eq!(app.verify_spent().await.nanos(), 0);
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_an_error_and_charged_for_what_came() {
    for end in [failed("server_error", "Oh."), json!({"type": "response.in_progress"})] {
        let app = start().await;
        app.upstream.queue_script(UpstreamScript::events(events(end)));
        let mut stream = app.admin().open(PATH, &ask("kimi-k3", &json!({"stream": true}))).await;
        let told = stream.remaining_events().await;
        assert_eq!(join_text(&told), "Hello there!");
        assert!(told.iter().any(|event| event.contains("\"error\"")), "{told:?}");
        assert!(0 < app.verify_spent().await.nanos());
    }
}

#[tokio::test]
async fn text_completions_are_refused_without_a_request_upstream() {
    let app = start().await;
    let body = json!({"model": "kimi-k3", "prompt": "fn add("});
    let reply = app.admin().post("/completions", &body).await;
    assert_eq!(reply.status, 400, "{}", reply.text());
    assert!(app.upstream.received_bodies().is_empty());
}
