//! Tests of the kinds of tools of `POST /responses`: offered, called, and in the conversation.

use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::TestReply;
use testkit::upstream::{UpstreamScript, build_chunk, build_completion};

const PATH: &str = "/responses";

fn usage() -> Value {
    json!({"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23})
}

fn patch_tool() -> Value {
    json!({"type": "custom", "name": "apply_patch", "description": "Edits files.",
        "format": {"type": "grammar", "syntax": "lark", "definition": "start: begin"}})
}

fn namespace_tool() -> Value {
    json!({"type": "namespace", "name": "mcp__rec", "description": "Records.", "tools": [
        {"type": "function", "name": "echo", "strict": false, "parameters": {"type": "object"}}]})
}

fn search_tool() -> Value {
    json!({"type": "tool_search", "execution": "client", "description": "Finds tools.",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}})
}

fn ask(tools: &Value, streams: bool) -> Value {
    json!({"model": "kimi-k3", "input": "Hi", "tools": tools, "stream": streams})
}

/// A call of a function, whole.
fn call_script(name: &str, arguments: &str) -> UpstreamScript {
    let mut answer = build_completion("", &usage());
    let function = json!({"name": name, "arguments": arguments});
    answer["choices"][0]["message"] = json!({"role": "assistant", "content": null,
        "tool_calls": [{"id": "c1", "type": "function", "function": function}]});
    answer["choices"][0]["finish_reason"] = json!("tool_calls");
    UpstreamScript::json(200, &answer)
}

/// The same in a stream, with the arguments in these pieces.
fn call_stream(name: &str, arguments: &[&str]) -> UpstreamScript {
    let first = json!({"index": 0, "id": "c1", "type": "function",
        "function": {"name": name, "arguments": ""}});
    let mut events = vec![build_chunk(&json!({"tool_calls": [first]}), None).to_string()];
    for piece in arguments {
        let call = json!({"index": 0, "function": {"arguments": piece}});
        events.push(build_chunk(&json!({"tool_calls": [call]}), None).to_string());
    }
    events.push(build_chunk(&json!({}), Some("tool_calls")).to_string());
    events.push(json!({"id": "up-1", "choices": [], "usage": usage()}).to_string());
    events.push("[DONE]".to_owned());
    UpstreamScript::events(events)
}

/// The events of a stream. Each must have its number.
#[track_caller]
fn events(reply: &TestReply) -> Vec<Value> {
    let text = reply.text();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Value> =
        data.filter(|it| *it != "[DONE]").map(|it| serde_json::from_str(it).unwrap()).collect();
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], number, "{event}");
    }
    events
}

fn of_kind<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

/// The item of a call, whole and from a stream; both must be the same but for the id.
async fn call_both_ways(tools: &Value, name: &str, pieces: &[&str]) -> (Value, Vec<Value>) {
    let app = TestApp::start().await;
    app.upstream.queue_script(call_script(name, &pieces.concat()));
    let whole = app.admin().post(PATH, &ask(tools, false)).await.ok_json();
    app.upstream.queue_script(call_stream(name, pieces));
    let events = events(&app.admin().post(PATH, &ask(tools, true)).await);
    let mut item = whole["output"][0].clone();
    let mut streamed = of_kind(&events, "response.output_item.done")[0]["item"].clone();
    for item in [&mut item, &mut streamed] {
        item.as_object_mut().unwrap().remove("id").unwrap();
    }
    assert_eq!(item, streamed);
    assert_eq!(events.last().unwrap()["type"], "response.completed");
    (item, events)
}

#[tokio::test]
async fn a_function_comes_back_as_a_function_call() {
    let tools = json!([{"type": "function", "name": "w", "strict": false}]);
    let (item, events) = call_both_ways(&tools, "w", &["{\"a\"", ":1}"]).await;
    let expected = json!({"type": "function_call", "call_id": "c1", "name": "w",
        "arguments": "{\"a\":1}", "status": "completed"});
    assert_eq!(item, expected);
    assert_eq!(of_kind(&events, "response.function_call_arguments.delta").len(), 2);
}

#[tokio::test]
async fn a_custom_tool_comes_back_as_a_custom_tool_call_with_its_raw_text() {
    let tools = json!([patch_tool()]);
    let pieces = ["{\"input\": \"*** Begin", " Patch\\n+", "\\u00e4\\\"\"}"];
    let (item, events) = call_both_ways(&tools, "apply_patch", &pieces).await;
    let expected = json!({"type": "custom_tool_call", "call_id": "c1", "name": "apply_patch",
        "input": "*** Begin Patch\n+ä\"", "status": "completed"});
    assert_eq!(item, expected);
    let deltas = of_kind(&events, "response.custom_tool_call_input.delta");
    let text: String = deltas.iter().map(|it| it["delta"].as_str().unwrap()).collect();
    assert_eq!((deltas.len(), text.as_str()), (3, "*** Begin Patch\n+ä\""));
    let done = of_kind(&events, "response.custom_tool_call_input.done");
    assert_eq!(done[0]["input"], "*** Begin Patch\n+ä\"");
}

#[tokio::test]
async fn a_namespaced_function_comes_back_with_its_namespace_and_bare_name() {
    let tools = json!([namespace_tool()]);
    let (item, _) = call_both_ways(&tools, "mcp__rec__echo", &["{}"]).await;
    let expected = json!({"type": "function_call", "call_id": "c1", "name": "echo",
        "namespace": "mcp__rec", "arguments": "{}", "status": "completed"});
    assert_eq!(item, expected);
}

#[tokio::test]
async fn a_search_for_tools_comes_back_with_its_arguments_as_an_object() {
    let tools = json!([search_tool()]);
    let (item, _) = call_both_ways(&tools, "tool_search", &["{\"query\":", "\"calendar\"}"]).await;
    let expected = json!({"type": "tool_search_call", "call_id": "c1", "execution": "client",
        "arguments": {"query": "calendar"}, "status": "completed"});
    assert_eq!(item, expected);
}

#[tokio::test]
async fn every_kind_is_offered_to_the_model_as_a_function_and_repeated_as_it_was_declared() {
    let app = TestApp::start().await;
    let tools = json!([
        {"type": "function", "name": "w"},
        patch_tool(),
        namespace_tool(),
        search_tool(),
        {"type": "web_search", "external_web_access": false},
    ]);
    let reply = app.admin().post(PATH, &ask(&tools, false)).await;
    let sent = app.upstream.received_bodies()[0]["tools"].clone();
    let names: Vec<&str> = sent
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["w", "apply_patch", "mcp__rec__echo", "tool_search"]);
    let described = sent[1]["function"]["description"].as_str().unwrap();
    assert!(described.contains("Edits files.") && described.contains("start: begin"));
    assert_eq!(sent[1]["function"]["parameters"]["required"], json!(["input"]));
    let echoed = &reply.ok_json()["tools"];
    let kinds: Vec<&str> =
        echoed.as_array().unwrap().iter().map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["function", "custom", "namespace", "tool_search"]);
    assert_eq!(echoed[2]["tools"][0]["name"], "echo");
}

#[tokio::test]
async fn a_web_search_without_access_to_the_web_searches_nothing_and_is_not_refused() {
    let app = TestApp::start().await;
    let tools = json!([{"type": "web_search", "external_web_access": false,
        "search_content_types": ["text"]}]);
    let reply = app.admin().post(PATH, &ask(&tools, false)).await.ok_json();
    assert_eq!(reply["output"][0]["type"], "message");
    assert_eq!(reply["output"].as_array().unwrap().len(), 1);
    let row = app.admin().get("/billing/usage").await;
    assert!(!row.text().contains("search"), "{}", row.text());
}

#[tokio::test]
async fn a_conversation_with_every_kind_of_call_reaches_a_chat_as_calls_and_results() {
    let app = TestApp::start().await;
    let found = json!({"type": "namespace", "name": "cal", "tools": [
        {"type": "function", "name": "list", "parameters": {"type": "object"}}]});
    let late = json!({"type": "function", "name": "late"});
    let body = json!({"model": "kimi-k3", "tools": [patch_tool(), namespace_tool(), search_tool()],
    "input": [
        {"type": "message", "id": "msg_1", "role": "developer", "content": "Be good"},
        {"role": "user", "content": "Go"},
        {"type": "custom_tool_call", "id": "x", "call_id": "c1", "name": "apply_patch",
            "input": "*** \"a\"", "status": "completed"},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "Done"},
        {"type": "function_call", "call_id": "c2", "namespace": "mcp__rec", "name": "echo",
            "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c2", "output": [
            {"type": "input_text", "text": "one"}, {"type": "input_text", "text": "two"}]},
        {"type": "tool_search_call", "call_id": "c3", "execution": "client",
            "arguments": {"query": "calendar"}, "status": "completed"},
        {"type": "tool_search_output", "call_id": "c3", "execution": "client",
            "status": "completed", "tools": [found]},
        {"type": "additional_tools", "role": "developer", "tools": [late]},
        {"type": "compaction", "encrypted_content": "gAAAA"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
    ]});
    app.upstream.queue_script(call_script("cal__list", "{}"));
    let reply = app.admin().post(PATH, &body).await.ok_json();
    assert_eq!(reply["output"][0]["namespace"], "cal");
    let sent = &app.upstream.received_bodies()[0];
    let lines: Vec<String> =
        sent["messages"].as_array().unwrap().iter().map(Value::to_string).collect();
    let call = |id: &str, name: &str, arguments: &str| {
        let function = json!({"name": name, "arguments": arguments});
        json!({"role": "assistant", "content": null,
            "tool_calls": [{"id": id, "type": "function", "function": function}]})
        .to_string()
    };
    let result = |id: &str, text: &str| {
        json!({"role": "tool", "content": text, "tool_call_id": id}).to_string()
    };
    let expected = [
        json!({"role": "system", "content": "Be good"}).to_string(),
        json!({"role": "user", "content": "Go"}).to_string(),
        call("c1", "apply_patch", "{\"input\":\"*** \\\"a\\\"\"}"),
        result("c1", "Done"),
        call("c2", "mcp__rec__echo", "{}"),
        result("c2", "one\ntwo"),
        call("c3", "tool_search", "{\"query\":\"calendar\"}"),
        result("c3", "These tools can be called now: cal__list"),
    ];
    assert_eq!(lines, expected);
    let names: Vec<&str> = sent["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["apply_patch", "mcp__rec__echo", "tool_search", "cal__list", "late"]);
}

#[tokio::test]
async fn images_in_results_follow_the_last_result_of_the_turn() {
    let app = TestApp::start().await;
    let image = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAEAAAABA";
    let body = json!({"model": "kimi-k3", "input": [
        {"role": "user", "content": "Look"},
        {"type": "function_call", "call_id": "c1", "name": "view", "arguments": "{}"},
        {"type": "function_call", "call_id": "c2", "name": "view", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": [
            {"type": "input_text", "text": "seen"}, {"type": "input_image", "image_url": image}]},
        {"type": "function_call_output", "call_id": "c2", "output": "none"},
        {"role": "user", "content": "And?"},
    ]});
    app.admin().post(PATH, &body).await.ok_json();
    let sent = app.upstream.received_bodies()[0]["messages"].clone();
    let roles: Vec<&str> =
        sent.as_array().unwrap().iter().map(|it| it["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "user", "user"]);
    assert_eq!(sent[2]["content"], "seen");
    assert_eq!(sent[4]["content"][0]["image_url"]["url"], image);
    let hostile = json!({"model": "kimi-k3", "input": [
        {"type": "function_call", "call_id": "c1", "name": "view", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": [
            {"type": "input_image", "image_url": "http://127.0.0.1/a.png"}]}]});
    let reply = app.admin().post(PATH, &hostile).await;
    assert_eq!(reply.status, 400, "{}", reply.text());
    assert_eq!(reply.json()["issues"][0]["path"], json!(["input", 1, "output", 0]));
}

#[tokio::test]
async fn an_own_answer_sent_back_is_one_turn() {
    let app = TestApp::start().await;
    let mut answer = build_completion("I look.", &usage());
    answer["choices"][0]["message"]["tool_calls"] = json!([{"id": "c1", "type": "function",
        "function": {"name": "w", "arguments": "{}"}}]);
    answer["choices"][0]["finish_reason"] = json!("tool_calls");
    app.upstream.queue_script(UpstreamScript::json(200, &answer));
    let tools = json!([{"type": "function", "name": "w"}]);
    let first = app.admin().post(PATH, &ask(&tools, false)).await.ok_json();
    let mut input = vec![json!({"role": "user", "content": "Hi"})];
    input.extend(first["output"].as_array().unwrap().clone());
    input.push(json!({"type": "function_call_output", "call_id": "c1", "output": "sun"}));
    app.admin().post(PATH, &json!({"model": "kimi-k3", "input": input})).await.ok_json();
    let sent = app.upstream.received_bodies()[1]["messages"].clone();
    assert_eq!(sent.as_array().unwrap().len(), 3, "{sent}");
    assert_eq!(sent[1]["content"], "I look.");
    assert_eq!(sent[1]["tool_calls"][0]["id"], "c1");
}

#[tokio::test]
async fn items_and_tools_that_cannot_be_translated_are_named() {
    let app = TestApp::start().await;
    let body = json!({"model": "kimi-k3",
        "input": [{"role": "user", "content": "Hi"}, {"type": "local_shell_call", "call_id": "c"}],
        "tools": [{"type": "mcp", "server_label": "x"}, {"type": "tool_search"}],
        "include": ["message.output_text.logprobs", "everything"],
        "tool_choice": {"type": "apply_patch"}});
    let reply = app.admin().post(PATH, &body).await;
    assert_eq!(reply.status, 400, "{}", reply.text());
    let issues = reply.json()["issues"].clone();
    let lines: Vec<String> = issues
        .as_array()
        .unwrap()
        .iter()
        .map(|it| format!("{} {}", it["path"], it["message"].as_str().unwrap()))
        .collect();
    for expected in [
        r#"["tools",0,"server_label"] This service has no MCP server"#,
        r#"["tools",1,"execution"] This service does not search tools"#,
        r#"["include",0] Responses have no log probabilities"#,
        r#"["include",1] There is nothing of this name"#,
        r#"["input",1,"type"] Items of type `local_shell_call` are not supported"#,
        r#"["tool_choice","type"] A tool of type `apply_patch` cannot be chosen"#,
    ] {
        assert!(lines.iter().any(|line| line.starts_with(expected)), "{expected}: {lines:#?}");
    }
    assert!(app.upstream.received_bodies().is_empty());
    let tools = json!([{"type": "image_generation"}, {"type": "function", "name": "w"}]);
    let reply = app.admin().post(PATH, &ask(&tools, false)).await;
    assert_eq!(reply.header("x-service-dropped-parameters"), "tools.image_generation");
}

#[tokio::test]
async fn a_choice_of_tools_reaches_the_chat_for_every_kind() {
    let app = TestApp::start().await;
    let tools =
        json!([{"type": "function", "name": "w"}, patch_tool(), namespace_tool(), search_tool()]);
    let function = |name: &str| json!({"type": "function", "function": {"name": name}});
    let echo = json!({"type": "function", "namespace": "mcp__rec", "name": "echo"});
    for (choice, expected, offered) in [
        (json!("required"), json!("required"), 4),
        (json!({"type": "function", "name": "w"}), function("w"), 4),
        (json!({"type": "custom", "name": "apply_patch"}), function("apply_patch"), 4),
        (echo.clone(), function("mcp__rec__echo"), 4),
        (json!({"type": "tool_search"}), function("tool_search"), 4),
        (
            json!({"type": "allowed_tools", "mode": "required",
                "tools": [echo, {"type": "custom", "name": "apply_patch"}]}),
            json!("required"),
            2,
        ),
    ] {
        let mut body = ask(&tools, false);
        body["tool_choice"] = choice.clone();
        let reply = app.admin().post(PATH, &body).await.ok_json();
        assert_eq!(reply["tool_choice"], choice);
        let sent = app.upstream.received_bodies().pop().unwrap();
        assert_eq!(sent["tool_choice"], expected, "{choice}");
        assert_eq!(sent["tools"].as_array().unwrap().len(), offered, "{choice}");
    }
    let mut body = ask(&tools, false);
    body["tool_choice"] = json!({"type": "custom", "name": "w"});
    assert_eq!(app.admin().post(PATH, &body).await.status, 400);
}
