//! Tests of what Codex needs of `POST /responses` besides tools: errors, reasoning, usage, privacy.

use axum::body::Body;
use axum::http::Method;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::{TestClient, TestReply};
use testkit::upstream::{UpstreamScript, build_chunk, build_completion};

const PATH: &str = "/responses";

fn codex(client: &TestClient) -> TestClient {
    client.with("originator", "codex_exec").with("x-codex-turn-metadata", "secret-workspace")
}

fn ask(input: &Value, streams: bool) -> Value {
    json!({"model": "kimi-k3", "input": input, "stream": streams, "store": false,
        "include": ["reasoning.encrypted_content"], "parallel_tool_calls": true,
        "reasoning": {"summary": "auto"}, "prompt_cache_key": "thread-1", "tool_choice": "auto",
        "client_metadata": {"x-codex-installation-id": "i"}})
}

fn events(reply: &TestReply) -> Vec<Value> {
    let text = reply.text();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|it| *it != "[DONE]").map(|it| serde_json::from_str(it).unwrap()).collect()
}

fn find<'a>(events: &'a [Value], kind: &str) -> &'a Value {
    events.iter().find(|event| event["type"] == kind).unwrap()
}

/// An answer with reasoning, whole and as a stream.
fn thoughtful() -> [UpstreamScript; 2] {
    let usage = json!({"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23});
    let mut answer = build_completion("Yes.", &usage);
    answer["choices"][0]["message"]["reasoning_content"] = json!("Hm, well.");
    let stream = [
        build_chunk(&json!({"role": "assistant", "reasoning_content": "Hm, "}), None).to_string(),
        build_chunk(&json!({"reasoning_content": "well."}), None).to_string(),
        build_chunk(&json!({"content": "Yes."}), None).to_string(),
        build_chunk(&json!({}), Some("stop")).to_string(),
        json!({"id": "up-1", "choices": [], "usage": usage}).to_string(),
        "[DONE]".to_owned(),
    ];
    [UpstreamScript::json(200, &answer), UpstreamScript::events(stream)]
}

#[tokio::test]
async fn reasoning_is_sealed_for_the_caller_and_goes_back_to_the_model() {
    let app = TestApp::start().await;
    let hi = json!([{"role": "user", "content": "Hi"}]);
    for (script, streams) in thoughtful().into_iter().zip([false, true]) {
        app.upstream.queue_script(script);
        let reply = app.admin().post(PATH, &ask(&hi, streams)).await;
        let item = if streams {
            let told = events(&reply);
            let whole = find(&told, "response.completed")["response"]["output"][0].clone();
            assert_eq!(find(&told, "response.output_item.done")["item"], whole);
            whole
        } else {
            reply.ok_json()["output"][0].clone()
        };
        assert_eq!(item["type"], "reasoning");
        assert_eq!(item["summary"][0]["text"], "Hm, well.");
        let sealed = item["encrypted_content"].as_str().unwrap();
        assert!(!sealed.contains("well"), "{sealed}");
        let input = json!([
            {"role": "user", "content": "Hi"},
            {"type": "reasoning", "id": "rs_never_stored", "summary": [], "content": null,
                "encrypted_content": sealed},
            {"type": "message", "role": "assistant", "content": [
                {"type": "output_text", "text": "Yes."}]},
            {"role": "user", "content": "And?"},
        ]);
        app.admin().post(PATH, &ask(&input, false)).await.ok_json();
        let sent = app.upstream.received_bodies().pop().unwrap()["messages"].clone();
        assert_eq!(sent.as_array().unwrap().len(), 3, "{sent}");
        assert_eq!(sent[1]["content"], "Yes.");
        assert_eq!(sent[1]["reasoning_content"], "Hm, well.");
    }
}

#[tokio::test]
async fn foreign_and_stale_reasoning_is_left_out_without_an_error() {
    let app = TestApp::start().await;
    let hi = json!([{"role": "user", "content": "Hi"}]);
    let [script, _] = thoughtful();
    app.upstream.queue_script(script);
    let mut first = ask(&hi, false);
    first["model"] = json!("llama-3.3-70b");
    let of_other_model = app.admin().post(PATH, &first).await.ok_json();
    let of_other_model = of_other_model["output"][0]["encrypted_content"].clone();
    for sealed in [of_other_model, json!("gAAAAABo"), json!("tgr1.AAAA"), Value::Null] {
        let input = json!([
            {"role": "user", "content": "Hi"},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": sealed},
            {"role": "assistant", "content": "Yes."},
            {"role": "user", "content": "And?"},
        ]);
        app.admin().post(PATH, &ask(&input, false)).await.ok_json();
        let sent = app.upstream.received_bodies().pop().unwrap()["messages"].clone();
        assert_eq!(sent.as_array().unwrap().len(), 3);
        assert_eq!(sent[1].get("reasoning_content"), None, "{sealed}");
    }
}

#[tokio::test]
async fn reasoning_is_not_sealed_for_those_who_do_not_ask() {
    let app = TestApp::start().await;
    let [script, _] = thoughtful();
    app.upstream.queue_script(script);
    let reply = app.admin().post(PATH, &json!({"model": "kimi-k3", "input": "Hi"})).await.ok_json();
    assert_eq!(reply["output"][0].get("encrypted_content"), None);
}

#[tokio::test]
async fn an_account_without_money_is_told_so_in_the_way_that_codex_stops_at() {
    let app = TestApp::start().await;
    let poor = app.another_account("poor").await;
    for streams in [false, true] {
        let body = ask(&json!("Hi"), streams);
        let reply = codex(&poor).post(PATH, &body).await;
        assert_eq!(reply.status, 429, "{}", reply.text());
        assert_eq!(reply.json()["error"]["code"], "insufficient_quota");
        assert!(reply.json()["error"]["message"].as_str().unwrap().contains("balance"));
        assert_eq!((reply.header("retry-after"), reply.header("retry-after-ms")), ("", ""));
        assert_eq!(poor.post(PATH, &body).await.status, 402);
        assert_eq!(poor.with("originator", "other").post(PATH, &body).await.status, 402);
    }
    assert!(app.upstream.received_bodies().is_empty());
}

#[tokio::test]
async fn a_conversation_that_is_too_long_fails_a_stream_of_codex_by_its_code() {
    let app = TestApp::start().await;
    let ask =
        |streams| json!({"model": "qwen3:4b", "input": "word ".repeat(200_000), "stream": streams});
    let reply = codex(&app.admin()).post(PATH, &ask(true)).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let told = events(&reply);
    let last = told.last().unwrap();
    assert_eq!(last["type"], "response.failed");
    assert_eq!(last["response"]["error"]["code"], "context_length_exceeded");
    assert_eq!(codex(&app.admin()).post(PATH, &ask(false)).await.status, 400);
    assert_eq!(app.admin().post(PATH, &ask(true)).await.status, 400);
    assert!(app.upstream.received_bodies().is_empty());
    assert_eq!(app.verify_spent().await.to_string(), "0");
}

#[tokio::test]
async fn a_model_that_is_down_says_when_to_come_back() {
    let app = TestApp::start().await;
    let down = UpstreamScript::json(401, &json!({"error": {"message": "no such key"}}));
    app.upstream.queue_script(down);
    let reply = codex(&app.admin()).post(PATH, &ask(&json!("Hi"), true)).await;
    assert_eq!(reply.status, 503, "{}", reply.text());
    assert!(!reply.header("retry-after").is_empty());
}

#[tokio::test]
async fn a_web_socket_is_refused_with_426_and_other_methods_with_405() {
    let app = TestApp::start().await;
    for base in ["/api/v1", "/v1"] {
        let path = format!("{base}/responses");
        for offered in ["websocket", "h2c, WebSocket"] {
            let client = app.admin().with("upgrade", offered).with("connection", "upgrade");
            let reply = client.send_raw(Method::GET, &path, Body::empty()).await;
            assert_eq!(reply.status, 426, "{}", reply.text());
            assert_eq!(reply.header("upgrade"), "HTTP/1.1");
            assert_eq!(reply.header("connection"), "upgrade");
            assert!(!reply.json()["error"].is_null(), "{}", reply.text());
        }
        let reply = app.admin().send_raw(Method::PATCH, &path, Body::empty()).await;
        assert_eq!(reply.status, 405);
    }
    let client = app.admin().with("upgrade", "websocket");
    let reply = client.send_raw(Method::GET, "/v1/embeddings", Body::empty()).await;
    assert_eq!(reply.status, 405);
}

#[tokio::test]
async fn usage_always_has_its_details() {
    let app = TestApp::start().await;
    let bare = json!({"prompt_tokens": 20, "completion_tokens": 3});
    app.upstream.queue_script(UpstreamScript::word_stream(&["Hi"], Some(bare)));
    app.upstream.queue_script(UpstreamScript::word_stream(&["Hi"], None));
    for _ in 0..2 {
        let reply = codex(&app.admin()).post(PATH, &ask(&json!("Hi"), true)).await;
        let told = events(&reply);
        let usage = &find(&told, "response.completed")["response"]["usage"];
        assert_eq!(usage["input_tokens_details"]["cached_tokens"], 0);
        assert_eq!(usage["output_tokens_details"]["reasoning_tokens"], 0);
    }
}

#[tokio::test]
async fn the_prompt_cache_key_is_passed_on_and_notes_about_the_workspace_are_not() {
    let app = TestApp::start().await;
    codex(&app.admin()).post(PATH, &ask(&json!("Hi"), false)).await.ok_json();
    let sent = &app.upstream.received_bodies()[0];
    assert_eq!(sent["prompt_cache_key"], "thread-1");
    assert_eq!(sent.get("client_metadata"), None);
    assert!(!app.upstream.heads()[0].contains("codex"), "{}", app.upstream.heads()[0]);
}

#[tokio::test]
async fn the_prompt_of_the_operator_is_not_added() {
    let app = TestApp::start().await;
    for options in [json!({}), json!({"include_service_system_prompt": true})] {
        let body = json!({"model": "kimi-k3", "input": "Hi", "service_parameters": options});
        app.admin().post(PATH, &body).await.ok_json();
        let sent = app.upstream.received_bodies().pop().unwrap()["messages"].clone();
        assert_eq!(sent, json!([{"role": "user", "content": "Hi"}]));
    }
}
