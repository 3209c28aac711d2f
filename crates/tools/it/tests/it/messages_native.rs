//! Tests of `/messages` with a provider that speaks the same protocol.

use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::upstream::UpstreamScript;

use crate::messages::{PATH, ask, post};

/// `kimi-k3` at a provider of kind `anthropic`.
async fn start() -> TestApp {
    start_with(str::to_owned).await
}

/// As [`start`], with another change of the configuration.
pub(crate) async fn start_with(change: impl Fn(&str) -> String) -> TestApp {
    TestApp::with_changed_fixture(|fixture| {
        let provider = "[[provider]]\nid = \"other\"\nkind = \"anthropic\"\n";
        let url = "base_url = \"http://127.0.0.1:1/v1\"";
        let changed = fixture
            .replace("\"Kimi K3\"\nprovider = \"main\"", "\"Kimi K3\"\nprovider = \"other\"");
        change(&format!("{provider}{url}\n{changed}"))
    })
    .await
}

fn whole(model: &str) -> Value {
    json!({"id": "msg_up", "type": "message", "role": "assistant", "model": model,
        "content": [{"type": "text", "text": "Hello"}], "stop_reason": "end_turn",
        "stop_sequence": null, "new_member": 1,
        "usage": {"input_tokens": 20, "output_tokens": 3}})
}

fn stream() -> UpstreamScript {
    let events = [
        json!({"type": "message_start", "message": {"id": "msg_up", "type": "message",
            "role": "assistant", "model": "upstream-name", "content": [], "stop_reason": null,
            "usage": {"input_tokens": 20, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "pause_turn", "stop_sequence": null},
            "usage": {"output_tokens": 3}}),
        json!({"type": "message_stop"}),
    ];
    let write =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    UpstreamScript::raw(events.iter().map(write).collect::<String>().into_bytes())
}

#[tokio::test]
async fn a_request_goes_on_as_it_came_and_its_answer_comes_back_so() {
    let app = start().await;
    app.upstream.queue_script(UpstreamScript::json(200, &whole("upstream-name")));
    let body = ask(json!({"new_field": {"b": 1, "a": 2},
        "messages": [{"role": "user", "content": [{"type": "hologram", "x": 1}]}],
        "tools": [{"type": "computer_20250124", "name": "computer"}]}));
    let client = app.admin().with("anthropic-beta", "new-2026").with("x-app", "cli");
    let reply = post(&client, PATH, &body).await;
    let message = reply.ok_json();
    assert_eq!((&message["model"], &message["new_member"]), (&json!("kimi-k3"), &json!(1)));
    let mut seen = app.upstream.received_bodies()[0].clone();
    assert_ne!(seen["model"], Value::Null);
    seen["model"] = json!("kimi-k3");
    assert_eq!(seen.to_string(), body.to_string());
    let head = app.upstream.heads()[0].clone();
    assert!(head.contains("anthropic-beta: new-2026") && !head.contains("x-app"), "{head}");
    assert!(0 < app.verify_spent().await.nanos());
}

#[tokio::test]
async fn events_are_forwarded_and_end_after_the_charge() {
    let app = start().await;
    app.upstream.queue_script(stream());
    let reply = post(&app.admin(), PATH, &ask(json!({"stream": true}))).await;
    let text = reply.text();
    assert!(text.starts_with("event: message_start\ndata: "), "{text}");
    assert!(text.contains("\"model\":\"kimi-k3\"") && !text.contains("upstream-name"), "{text}");
    assert!(text.contains("\"stop_reason\":\"pause_turn\""), "{text}");
    assert!(text.ends_with("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"), "{text}");
    assert_eq!(text.matches("message_delta").count(), 2, "{text}");
    assert!(0 < app.verify_spent().await.nanos());
}

#[tokio::test]
async fn thinking_that_we_signed_is_left_out_and_foreign_thinking_stays() {
    let app = start().await;
    app.upstream.queue_script(UpstreamScript::json(200, &whole("upstream-name")));
    let block =
        |signature: &str| json!({"type": "thinking", "thinking": "x", "signature": signature});
    let text = json!({"type": "text", "text": "So."});
    let messages = json!([{"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [block("tgs1.x"), block("EqoB"), text]},
        {"role": "user", "content": "And?"}]);
    post(&app.admin(), PATH, &ask(json!({"messages": messages}))).await.ok_json();
    let seen = app.upstream.received_bodies()[0]["messages"][1]["content"].clone();
    assert_eq!(seen, json!([block("EqoB"), text]));
}

#[tokio::test]
async fn a_refusal_of_the_provider_has_its_own_words() {
    let app = start().await;
    let error = |kind: &str, message: &str| json!({"type": "error", "error": {"type": kind, "message": message}});
    for (status, kind, message, expected) in [
        (400, "invalid_request_error", "output_config.effort: Extra inputs are not permitted", 400),
        (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", 400),
        (529, "overloaded_error", "Overloaded", 529),
    ] {
        app.upstream.queue_script(UpstreamScript::json(status, &error(kind, message)));
        let reply = post(&app.admin(), PATH, &ask(json!({}))).await;
        let body = reply.json();
        assert_eq!((reply.status, &body["error"]["type"]), (expected, &json!(kind)), "{body}");
        if status == 400 {
            assert_eq!(body["error"]["message"], message);
        } else {
            assert!(!reply.header("retry-after").is_empty());
        }
    }
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn a_repeated_member_is_refused() {
    let app = start().await;
    let text = r#"{"model":"kimi-k3","model":"qwen3:4b","max_tokens":1,"messages":[{"role":"user","content":"Hi"}]}"#;
    let client = app.admin().with("content-type", "application/json");
    let text = text.replace("\"qwen3:4b\"", "\"kimi-k3\"");
    let reply = client.send_raw(axum::http::Method::POST, PATH, axum::body::Body::from(text)).await;
    assert_eq!(
        (reply.status, &reply.json()["error"]["type"]),
        (400, &json!("invalid_request_error"))
    );
    assert!(app.upstream.received_bodies().is_empty());
}

#[tokio::test]
async fn what_the_provider_bills_beyond_tokens_is_not_passed_on() {
    let app = start().await;
    app.upstream.queue_script(UpstreamScript::json(200, &whole("upstream-name")));
    let body = ask(json!({"speed": "fast", "inference_geo": "us"}));
    let reply = post(&app.admin(), PATH, &body).await;
    reply.ok_json();
    let seen = app.upstream.received_bodies()[0].clone();
    assert!(seen.get("speed").is_none() && seen.get("inference_geo").is_none(), "{seen}");
    let dropped = reply.header("x-service-dropped-parameters").to_owned();
    assert!(dropped.contains("speed") && dropped.contains("inference_geo"), "{dropped}");
    let tool = json!({"type": "code_execution_20250825", "name": "code_execution"});
    let refused = post(&app.admin(), PATH, &ask(json!({"tools": [tool]}))).await;
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert!(refused.text().contains("Input tag 'code_execution_20250825'"), "{}", refused.text());
}

#[tokio::test]
async fn the_beta_of_a_long_context_is_passed_on_only_for_models_that_have_one() {
    for (context_tokens, is_passed) in [(131_072, false), (1_000_000, true)] {
        let app = start_with(|fixture| {
            let context = |tokens: u64| format!("tier = \"M\"\ncontext_tokens = {tokens}\n");
            fixture.replace(&context(262_144), &context(context_tokens))
        })
        .await;
        app.upstream.queue_script(UpstreamScript::json(200, &whole("upstream-name")));
        let client = app.admin().with("anthropic-beta", "a-1,context-1m-2025-08-07,b-2");
        let reply = post(&client, PATH, &ask(json!({}))).await;
        reply.ok_json();
        let betas = if is_passed { "a-1,context-1m-2025-08-07,b-2" } else { "a-1,b-2" };
        let head = app.upstream.heads()[0].clone();
        assert!(head.contains(&format!("anthropic-beta: {betas}\r\n")), "{head}");
        let dropped = reply.headers.contains_key("x-service-dropped-parameters");
        assert_eq!(dropped, !is_passed);
    }
}
