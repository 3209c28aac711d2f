//! Tests of `/messages` with MCP servers, whose tools the service calls.

use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::mcp_server::{StubCall, StubGeneration, StubMcpServer};
use testkit::upstream::UpstreamScript;

use crate::responses_mcp::{TURN, calls, start, words};

const PATH: &str = "/messages";
/// Price of a call in nano-dollars.
const CALL: i64 = 2_000_000;

fn ask(server: Value, set: Option<Value>) -> Value {
    let message = json!({"role": "user", "content": "How is the weather in Oslo?"});
    let mut body = json!({"model": "kimi-k3", "max_tokens": 1000, "messages": [message],
        "mcp_servers": [server]});
    if let Some(set) = set {
        body["tools"] = json!([set]);
    }
    body
}

fn weather() -> Value {
    json!({"type": "url", "name": "weather"})
}

fn set(fields: Value) -> Value {
    let mut set = json!({"type": "mcp_toolset", "mcp_server_name": "weather"});
    for (name, value) in fields.as_object().unwrap() {
        set[name] = value.clone();
    }
    set
}

fn kinds(message: &Value) -> Vec<&str> {
    let blocks = message["content"].as_array().unwrap().iter();
    blocks.map(|block| block["type"].as_str().unwrap()).collect()
}

fn offered(app: &TestApp) -> Vec<String> {
    let sent = app.upstream.received_bodies();
    let tools = sent[sent.len() - 1]["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().map(|it| it["function"]["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn calls_and_results_are_blocks_of_the_message_and_of_the_next_request() {
    let server = StubMcpServer::start(StubGeneration::Stateless).await;
    let app = start(&server).await;
    server.queue_call(StubCall::Text("12 °C".to_owned()));
    server.queue_call(StubCall::ToolError("No such city".to_owned()));
    app.upstream.queue_script(calls(&[
        ("weather__weather", "{\"city\":\"Oslo\"}"),
        ("weather__weather", "{}"),
    ]));
    app.upstream.queue_script(words("It is 12 °C."));
    let asked = ask(weather(), Some(set(json!({}))));
    let message = app.admin().post(PATH, &asked).await.ok_json();
    let expected = ["mcp_tool_use", "mcp_tool_use", "mcp_tool_result", "mcp_tool_result", "text"];
    assert_eq!(kinds(&message), expected, "{message}");
    let [first, .., result, failed, _] = message["content"].as_array().unwrap().as_slice() else {
        unreachable!("there are five blocks");
    };
    assert_eq!((&first["name"], &first["server_name"]), (&json!("weather"), &json!("weather")));
    assert_eq!(first["input"], json!({"city": "Oslo"}));
    assert_eq!(result["tool_use_id"], first["id"]);
    assert_eq!(result["content"], json!([{"type": "text", "text": "12 °C"}]));
    assert_eq!((&result["is_error"], &failed["is_error"]), (&json!(false), &json!(true)));
    assert_eq!(
        (&message["stop_reason"], &message["usage"]["output_tokens"]),
        (&json!("end_turn"), &json!(20))
    );
    assert_eq!(app.verify_spent().await.nanos(), 2 * TURN + CALL);

    let mut next = asked.clone();
    let messages = next["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": message["content"]}));
    messages.push(json!({"role": "user", "content": "And tomorrow?"}));
    app.upstream.queue_script(words("The same."));
    app.admin().post(PATH, &next).await.ok_json();
    let sent = app.upstream.received_bodies();
    let roles: Vec<&str> = sent[2]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "assistant", "user"]);
    assert_eq!(sent[2]["messages"][3]["content"], "Error: No such city");
}

#[tokio::test]
async fn a_stream_has_a_block_for_each_call_and_result() {
    let server = StubMcpServer::start(StubGeneration::Handshake).await;
    let app = start(&server).await;
    app.upstream.queue_script(calls(&[("weather__weather", "{\"city\":\"Oslo\"}")]));
    app.upstream.queue_script(words("Fine."));
    let mut asked = ask(weather(), None);
    asked["stream"] = json!(true);
    let events = app.admin().open(PATH, &asked).await.remaining_events().await;
    let events: Vec<Value> =
        events.iter().map(|event| serde_json::from_str(event).unwrap()).collect();
    let blocks: Vec<&str> = events
        .iter()
        .filter(|event| event["type"] == "content_block_start")
        .map(|event| event["content_block"]["type"].as_str().unwrap())
        .collect();
    assert_eq!(blocks, ["mcp_tool_use", "mcp_tool_result", "text"]);
    let delta = events.iter().find(|event| event["delta"]["type"] == "input_json_delta");
    assert_eq!(delta.unwrap()["delta"]["partial_json"], "{\"city\":\"Oslo\"}");
    let end = &events[events.len() - 2];
    assert_eq!(end["delta"]["stop_reason"], "end_turn");
    assert_eq!(app.verify_spent().await.nanos(), 2 * TURN + CALL);
}

#[tokio::test]
async fn a_tool_set_says_which_tools_are_enabled() {
    let server = StubMcpServer::start(StubGeneration::Stateless).await;
    let app = start(&server).await;
    let old = json!({"type": "url", "name": "weather",
        "tool_configuration": {"allowed_tools": ["order"]}});
    let off =
        json!({"default_config": {"enabled": false}, "configs": {"order": {"enabled": true}}});
    for (body, expected) in [
        (ask(weather(), None), vec!["weather__weather", "weather__order"]),
        (ask(weather(), Some(set(off))), vec!["weather__order"]),
        (
            ask(weather(), Some(set(json!({"configs": {"order": {"enabled": false}}})))),
            vec!["weather__weather"],
        ),
        (ask(old, None), vec!["weather__order"]),
    ] {
        app.admin().post(PATH, &body).await.ok_json();
        assert_eq!(offered(&app), expected, "{body}");
    }
}

#[tokio::test]
async fn what_is_wrong_is_refused_and_a_server_that_fails_is_named() {
    let server = StubMcpServer::start(StubGeneration::Stateless).await;
    let app = start(&server).await;
    for (body, words_of_fault) in [
        (ask(json!({"name": "other"}), None), "it has: weather"),
        (ask(json!({"name": "a", "url": "https://mcp.example.com"}), None), "of its operator"),
        (
            ask(json!({"name": "weather", "authorization_token": "t0p"}), None),
            "has its own authorization",
        ),
        (
            ask(weather(), Some(json!({"type": "mcp_toolset", "mcp_server_name": "b"}))),
            "has no server of this name",
        ),
    ] {
        let reply = app.admin().post(PATH, &body).await;
        assert_eq!(reply.status, 400, "{}", reply.text());
        assert!(reply.text().contains(words_of_fault), "{}", reply.text());
        assert!(!reply.text().contains("t0p"));
    }
    server.set_tools(json!("<html>"));
    let reply = app.admin().post(PATH, &ask(weather(), None)).await;
    assert_eq!(reply.status, 400, "{}", reply.text());
    assert!(reply.text().contains("`weather`: The MCP server's answer"), "{}", reply.text());
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn an_answer_that_breaks_off_keeps_what_was_done() {
    let server = StubMcpServer::start(StubGeneration::Stateless).await;
    let app = start(&server).await;
    app.upstream.queue_script(calls(&[("weather__weather", "{}")]));
    app.upstream.queue_script(UpstreamScript::json(400, &json!({"error": {"message": "bad"}})));
    let message = app.admin().post(PATH, &ask(weather(), None)).await.ok_json();
    assert_eq!(kinds(&message), ["mcp_tool_use", "mcp_tool_result"]);
    assert_eq!(message["stop_reason"], "pause_turn");
    assert_eq!(app.verify_spent().await.nanos(), TURN + CALL);
}

#[tokio::test]
async fn a_provider_of_the_same_protocol_does_not_get_the_servers() {
    let server = StubMcpServer::start(StubGeneration::Stateless).await;
    let app = TestApp::with_changed_fixture(|fixture| {
        let changed = fixture
            .replace("\"Kimi K3\"\nprovider = \"main\"", "\"Kimi K3\"\nprovider = \"other\"");
        format!(
            "[[provider]]\nid = \"other\"\nkind = \"anthropic\"\nbase_url = \
             \"http://127.0.0.1:1/v1\"\n{changed}\n[[mcp_server]]\nlabel = \"weather\"\nfree = \
             true\nurl = \"{}\"\n",
            server.url()
        )
    })
    .await;
    let _ = app.admin().post(PATH, &ask(weather(), None)).await;
    let sent = app.upstream.received_bodies();
    assert!(sent[0].get("mcp_servers").is_none(), "{}", sent[0]);
    assert_eq!(sent[0]["tools"][0]["name"], "weather__weather");
}
