//! Tests of the default output limit: the one of the model's catalogue entry.

use std::sync::Arc;

use engine::{ChatContent, ChatMessage, ChatRequest, prompt_tokens};
use serde_json::{Value, json};
use testkit::app::{SYSTEM_PROMPT, TestApp};
use testkit::upstream::{UpstreamScript, build_completion};
use tokio::sync::Semaphore;

use crate::chat::{PATH, ask};

/// Prices of `kimi-k3` in nano-dollars a token.
const INPUT: i64 = 1_400;
const OUTPUT: i64 = 4_400;
/// The highest price of a prompt token.
const CACHE_WRITE: i64 = 1_750;
/// The output limit of `kimi-k3`, in tokens.
const ANSWER_MAX: i64 = 2_000;

/// Starts a service whose `kimi-k3` has an output limit, and a context of `context_tokens`.
async fn start(context_tokens: u64) -> TestApp {
    let bounded =
        format!("context_tokens = {context_tokens}\nmax_completion_tokens = {ANSWER_MAX}");
    TestApp::with_changed_fixture(|fixture| fixture.replace("context_tokens = 262144", &bounded))
        .await
}

/// The estimated tokens of the prompt of `ask`.
fn prompt_estimate() -> i64 {
    let text = |text: &str| ChatContent::Text(text.to_owned());
    let messages = vec![
        ChatMessage::System { content: text(SYSTEM_PROMPT), name: None },
        ChatMessage::User { content: text("Say hello"), name: None },
    ];
    i64::try_from(prompt_tokens(&ChatRequest { messages, ..ChatRequest::default() })).unwrap()
}

/// Compares the limit that the upstream received.
#[track_caller]
fn check_sent(app: &TestApp, field: &str, expected: Value) {
    let seen = app.upstream.received_bodies();
    assert_eq!(seen.last().unwrap().get(field).unwrap_or(&Value::Null), &expected);
}

#[tokio::test]
async fn every_way_to_ask_has_the_models_bound() {
    let app = start(262_144).await;
    let respond = json!({"model": "kimi-k3", "input": "Say hello"});
    for (path, body) in [(PATH, ask("kimi-k3", &json!({}))), ("/responses", respond)] {
        for is_streamed in [false, true] {
            let mut body = body.clone();
            body["stream"] = json!(is_streamed);
            let reply = app.admin().post(path, &body).await;
            assert_eq!(reply.status, 200, "{}", reply.text());
            check_sent(&app, "max_tokens", json!(ANSWER_MAX));
        }
    }
    app.admin().post(PATH, &ask("kimi-k3", &json!({"max_tokens": 0}))).await.ok_json();
    check_sent(&app, "max_tokens", json!(ANSWER_MAX));
    app.admin().post(PATH, &ask("kimi-k3", &json!({"max_tokens": 9}))).await.ok_json();
    check_sent(&app, "max_tokens", json!(9));
}

#[tokio::test]
async fn a_continuation_is_no_longer_than_its_model_gives() {
    let app = TestApp::with_changed_fixture(|fixture| {
        fixture
            .replace("context_tokens = 262144", "context_tokens = 999\nmax_completion_tokens = 9")
    })
    .await;
    let choice = json!({"index": 0, "text": "a", "finish_reason": "length"});
    let usage = json!({"prompt_tokens": 5, "completion_tokens": 9});
    app.upstream
        .queue_script(UpstreamScript::json(200, &json!({"choices": [choice], "usage": usage})));
    let body = json!({"model": "kimi-k3", "prompt": "fn add("});
    let answer = app.admin().post("/completions", &body).await.ok_json();
    check_sent(&app, "max_tokens", json!(9));
    assert_eq!(answer["choices"][0]["finish_reason"], "length");
}

#[tokio::test]
async fn each_protocol_gets_the_bound_under_its_own_name() {
    for (provider, field, other) in [
        ("kind = \"openai\"\ndialect = \"openai\"", "max_completion_tokens", "max_tokens"),
        ("kind = \"anthropic\"", "max_tokens", "max_completion_tokens"),
    ] {
        let app = TestApp::with_changed_fixture(|fixture| {
            let url = "base_url = \"http://127.0.0.1:1/v1\"";
            let bounded = format!("context_tokens = 262144\nmax_completion_tokens = {ANSWER_MAX}");
            let changed = fixture
                .replace("context_tokens = 262144", &bounded)
                .replace("\"Kimi K3\"\nprovider = \"main\"", "\"Kimi K3\"\nprovider = \"other\"");
            format!("[[provider]]\nid = \"other\"\n{provider}\n{url}\n{changed}")
        })
        .await;
        // The stub's response fits only one protocol; this test checks only the request.
        app.admin().post(PATH, &ask("kimi-k3", &json!({}))).await;
        check_sent(&app, field, json!(ANSWER_MAX));
        check_sent(&app, other, Value::Null);
    }
}

#[tokio::test]
async fn the_longest_answer_is_held_and_what_came_is_charged() {
    let app = start(262_144).await;
    let usage = json!({"prompt_tokens": 20, "completion_tokens": ANSWER_MAX});
    let mut answer = build_completion("Once upon a time", &usage);
    answer["choices"][0]["finish_reason"] = json!("length");
    // Only the first words are sent, so that the money stays held.
    let pace = Arc::new(Semaphore::new(1));
    app.upstream.queue_script(UpstreamScript::json(200, &answer).with_pace(&pace));
    let (owner, client) = app.funded_account("teller", "10").await;
    let stream = client.open(PATH, &ask("kimi-k3", &json!({"stream": true}))).await;
    assert_eq!(stream.headers["x-balance-remaining"], "10", "what is held is not gone");
    let held = 10_000_000_000 - app.app.ledger.balances(owner).usd.nanos();
    let prompt_max = prompt_estimate() + prompt_estimate() / 2 + 16;
    assert_eq!(held, prompt_max * CACHE_WRITE + ANSWER_MAX * OUTPUT);
    drop(stream);
    app.settle_tasks().await;

    app.upstream.queue_script(UpstreamScript::json(200, &answer));
    let before = app.app.ledger.balances(owner).usd.nanos();
    let whole = client.post(PATH, &ask("kimi-k3", &json!({}))).await.ok_json();
    assert_eq!(whole["choices"][0]["finish_reason"], "length");
    assert_eq!(whole["usage"]["completion_tokens"], ANSWER_MAX);
    app.settle_tasks().await;
    let cost = before - app.app.ledger.balances(owner).usd.nanos();
    assert_eq!(cost, 20 * INPUT + ANSWER_MAX * OUTPUT);
}

#[tokio::test]
async fn who_cannot_pay_for_the_longest_answer_gets_a_shorter_one() {
    let app = start(262_144).await;
    let (_, client) = app.funded_account("small", "0.0005").await;
    client.post(PATH, &ask("kimi-k3", &json!({}))).await.ok_json();
    let asked = app.upstream.received_bodies()[0]["max_tokens"].as_i64().unwrap();
    assert!(0 < asked && asked < 120, "what the money buys: {asked}");
    let named = client.post(PATH, &ask("kimi-k3", &json!({"max_tokens": ANSWER_MAX}))).await;
    assert_eq!(named.status, 402, "who names a length wants all of it");
}

#[tokio::test]
async fn tokens_a_minute_are_reserved_for_the_longest_answer_within_reason() {
    for (answer_max, reserved) in [(ANSWER_MAX, ANSWER_MAX), (100_000, 4_096)] {
        let app = TestApp::with_changed_fixture(|fixture| {
            let bounded = format!("context_tokens = 262144\nmax_completion_tokens = {answer_max}");
            fixture.replace("context_tokens = 262144", &bounded)
        })
        .await;
        let reply = app.admin().post(PATH, &ask("kimi-k3", &json!({}))).await;
        let left: i64 = reply.header("x-ratelimit-remaining-tokens").parse().unwrap();
        assert_eq!(750_000 - left, prompt_estimate() + reserved);
    }
}

#[tokio::test]
async fn a_long_prompt_is_never_refused_for_a_bound_that_nobody_named() {
    let app = start(4_000).await;
    let long = json!([{"role": "user", "content": "word ".repeat(2_000)}]);
    app.admin().post(PATH, &ask("kimi-k3", &json!({"messages": long}))).await.ok_json();
    check_sent(&app, "max_tokens", Value::Null);
    let named = ask("kimi-k3", &json!({"messages": long, "max_tokens": ANSWER_MAX}));
    app.admin().post(PATH, &named).await.ok_json();
    check_sent(&app, "max_tokens", json!(ANSWER_MAX));
}
