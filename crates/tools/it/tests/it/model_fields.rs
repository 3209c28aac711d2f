//! Tests of the upstream request body: only what the caller sent and the operator configured.

use serde_json::{Map, Value, json};
use testkit::app::TestApp;
use testkit::upstream::UpstreamScript;

/// The paths of all text endpoints, each with a minimal body.
fn least_bodies(model: &str) -> [(&'static str, Value); 3] {
    let messages = json!([{"role": "user", "content": "Hi"}]);
    [
        ("/chat/completions", json!({"model": model, "messages": messages})),
        ("/completions", json!({"model": model, "prompt": "Hi"})),
        ("/responses", json!({"model": model, "input": "Hi"})),
    ]
}

/// A completion that fits both endpoints of an OpenAI-style server.
fn script() -> UpstreamScript {
    let choice = json!({"index": 0, "text": "Hi", "finish_reason": "stop",
        "message": {"role": "assistant", "content": "Hi"}});
    UpstreamScript::json(
        200,
        &json!({"id": "up", "object": "chat.completion", "choices": [choice],
            "usage": {"prompt_tokens": 2, "completion_tokens": 1, "total_tokens": 3}}),
    )
}

/// Sends a body and returns the upstream's body, without the model and the prompt.
async fn sent_up(app: &TestApp, path: &str, body: &Value) -> Map<String, Value> {
    app.upstream.queue_script(script());
    app.admin().post(path, body).await.ok_json();
    let mut seen = app.upstream.received_bodies().last().unwrap().as_object().unwrap().clone();
    for name in ["model", "messages", "prompt"] {
        seen.remove(name);
    }
    seen
}

/// The fixture with further keys for `kimi-k3`.
async fn start_with(keys: &str) -> TestApp {
    let id = "id = \"kimi-k3\"\n";
    TestApp::with_changed_fixture(|fixture| fixture.replace(id, &format!("{id}{keys}\n"))).await
}

#[tokio::test]
async fn a_plain_request_reaches_the_upstream_without_a_field_of_ours() {
    let app = TestApp::start().await;
    for (path, body) in least_bodies("kimi-k3") {
        let seen = sent_up(&app, path, &body).await;
        // OpenAI's own default for completions is 16 tokens, which other servers lack.
        let expected = if path == "/completions" { json!({"max_tokens": 16}) } else { json!({}) };
        assert_eq!(Value::Object(seen), expected, "{path}");
    }
}

#[tokio::test]
async fn what_the_operator_configured_is_sent_and_yields_to_the_caller() {
    let app = start_with(r#"defaults = { temperature = "0.7", top_k = 40 }"#).await;
    for (path, body) in least_bodies("kimi-k3") {
        let seen = sent_up(&app, path, &body).await;
        assert_eq!((&seen["temperature"], &seen["top_k"]), (&json!(0.7), &json!(40)), "{path}");
        assert!(!seen.contains_key("top_p"), "{path}: {seen:?}");
        let mut body = body;
        body["temperature"] = json!(0);
        let seen = sent_up(&app, path, &body).await;
        assert_eq!(seen["temperature"], json!(0.0), "{path}");
    }
}

#[tokio::test]
async fn the_list_of_models_shows_what_is_configured_and_claims_nothing_else() {
    let app = start_with(r#"defaults = { temperature = "0.7" }"#).await;
    let list = app.admin().get("/models").await.ok_json();
    let models = list["data"].as_array().unwrap();
    let kimi = models.iter().find(|model| model["id"] == "kimi-k3").unwrap();
    let expected = json!({"temperature": {"default": 0.7}, "top_p": {}});
    assert_eq!(kimi["model_spec"]["constraints"], expected);
}

#[tokio::test]
async fn a_dropped_field_is_sent_neither_for_the_operator_nor_for_the_caller() {
    let keys = r#"defaults = { top_p = "0.9" }
        drop = ["top_p", "temperature"]"#;
    let app = start_with(keys).await;
    for (path, mut body) in least_bodies("kimi-k3") {
        let seen = sent_up(&app, path, &body).await;
        assert!(!seen.contains_key("top_p") && !seen.contains_key("temperature"), "{seen:?}");
        body["top_p"] = json!(0.5);
        app.upstream.queue_script(script());
        let reply = app.admin().post(path, &body).await;
        assert_eq!(reply.header("x-service-dropped-parameters"), "top_p", "{path}");
        let seen = app.upstream.received_bodies().last().unwrap().clone();
        assert_eq!(seen.get("top_p"), None, "{path}");
    }
}

#[tokio::test]
async fn a_stream_asks_for_its_usage_and_nothing_else() {
    let app = TestApp::start().await;
    let messages = json!([{"role": "user", "content": "Hi"}]);
    let body = json!({"model": "kimi-k3", "messages": messages, "stream": true});
    app.admin().open("/chat/completions", &body).await.remaining_events().await;
    let mut seen = app.upstream.received_bodies()[0].as_object().unwrap().clone();
    seen.remove("messages");
    let expected = json!({"model": "kimi-k3", "stream": true,
        "stream_options": {"include_usage": true}});
    assert_eq!(Value::Object(seen), expected);
}

#[tokio::test]
async fn seeds_of_zero_and_below_are_seeds() {
    let app = TestApp::start().await;
    for (path, mut body) in least_bodies("kimi-k3").into_iter().take(2) {
        for seed in [0, -1, i64::MIN, i64::MAX] {
            body["seed"] = json!(seed);
            assert_eq!(sent_up(&app, path, &body).await["seed"], json!(seed), "{path}");
        }
    }
}

#[tokio::test]
async fn messages_are_a_list() {
    let app = TestApp::start().await;
    let body = json!({"model": "kimi-k3", "messages": "hi"});
    let reply = app.admin().post("/chat/completions", &body).await;
    assert_eq!(reply.status, 400);
    let issue = &reply.json()["issues"][0];
    assert_eq!(issue["path"], json!(["messages"]));
    assert_eq!(issue["message"], "Expected array, received string");
    assert!(app.upstream.received_bodies().is_empty());
}

#[tokio::test]
async fn a_summary_of_thoughts_is_not_asked_for_in_a_chat() {
    let openrouter = |fixture: &str| {
        fixture.replacen("kind = \"openai\"\n", "kind = \"openai\"\ndialect = \"openrouter\"\n", 1)
    };
    let app = TestApp::with_changed_fixture(openrouter).await;
    for (path, mut body) in least_bodies("kimi-k3") {
        if path == "/completions" {
            continue;
        }
        body["reasoning"] = json!({"effort": "low", "summary": "auto"});
        app.upstream.queue_script(script());
        let reply = app.admin().post(path, &body).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        let seen = app.upstream.received_bodies().last().unwrap().clone();
        assert_eq!(seen["reasoning"], json!({"effort": "low"}), "{path}");
        assert_eq!(reply.header("x-service-dropped-parameters"), "reasoning.summary", "{path}");
    }
}
