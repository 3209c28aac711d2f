//! Tests of every field of a response: its upstream form, and the error for a wrong value.

use std::time::Duration;

use expect_test::expect;
use serde_json::{Value, json};
use testkit::app::TestApp;

const PATH: &str = "/responses";
const PICTURE: &str = "https://example.com/a.png";

/// `kimi-k3` with every capability that a field needs.
async fn start() -> TestApp {
    let few = r#""vision", "multiple_images"]"#;
    let all = r#""vision", "multiple_images", "json_schema"]"#;
    TestApp::with_changed_fixture(|fixture| fixture.replace(few, all)).await
}

fn ask(more: &Value) -> Value {
    let mut body = json!({"model": "kimi-k3", "input": "Hi"});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

#[tokio::test]
async fn every_field_reaches_an_upstream_that_takes_it() {
    let app = start().await;
    let body = json!({
        "model": "kimi-k3",
        "input": "Hi",
        "instructions": "Be kind",
        "include": ["reasoning.encrypted_content"],
        "max_output_tokens": 77,
        "temperature": 0.6,
        "top_p": 0.9,
        "fallbacks": [],
        "reasoning": {"effort": "high", "summary": "detailed", "enabled": true},
        "text": {"verbosity": "high", "format":
            {"type": "json_schema", "name": "answer", "strict": true, "schema": {"type": "object"}}},
        "tools": [
            {"type": "function", "name": "w", "description": "d", "parameters": {"type": "object"}, "strict": true},
            {"type": "function", "function": {"name": "v"}},
            {"type": "image_generation"},
        ],
        "tool_choice": {"type": "function", "function": {"name": "v"}},
        "parallel_tool_calls": false,
        "web_search": false,
        "stream": false,
        "prompt_cache_key": "k",
        "previous_response_id": null,
        "background": false,
        "store": true,
        "metadata": {"a": "b"},
        "user": "u",
        "service_parameters": {"enable_e2ee": false, "enable_web_search": "off",
            "enable_web_scraping": false, "enable_web_citations": true,
            "include_service_system_prompt": false, "include_search_results_in_stream": true},
        "truncation": "auto",
    });
    app.admin().post(PATH, &body).await.ok_json();
    let seen = app.upstream.received_bodies()[0].clone();
    let lines: Vec<String> =
        seen.as_object().unwrap().iter().map(|(name, value)| format!("{name}: {value}")).collect();
    expect![[r#"
        model: "kimi-k3"
        messages: [{"role":"system","content":"Be kind"},{"role":"user","content":"Hi"}]
        max_tokens: 77
        temperature: 0.6
        top_p: 0.9
        tools: [{"type":"function","function":{"name":"w","description":"d","parameters":{"type":"object"},"strict":true}},{"type":"function","function":{"name":"v"}}]
        tool_choice: {"type":"function","function":{"name":"v"}}
        parallel_tool_calls: false
        response_format: {"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":{"type":"object"}}}
        reasoning_effort: "high"
        chat_template_kwargs: {"enable_thinking":true}
        verbosity: "high"
        prompt_cache_key: "k""#]].assert_eq(&lines.join("\n"));
}

#[tokio::test]
async fn every_kind_of_item_and_part_reaches_the_upstream_or_is_left_out() {
    let app = start().await;
    let input = json!([
        {"role": "system", "content": [{"type": "input_text", "text": "Be kind"}]},
        {"type": "message", "role": "user", "id": "m", "status": "completed", "content": [
            {"type": "text", "text": "a"},
            {"type": "image_url", "image_url": {"url": PICTURE, "detail": "high"}},
            {"type": "input_image", "image_url": PICTURE, "detail": "auto"},
            {"type": "input_image", "image_url": {"url": PICTURE}}]},
        {"type": "reasoning", "id": "r", "summary": [], "content": [], "status": "completed"},
        {"role": "assistant", "content": [
            {"type": "output_text", "text": "b", "annotations": []},
            {"type": "refusal", "refusal": "c"}]},
        {"type": "function_call", "id": "f", "call_id": "1", "name": "w", "arguments": "{", "status": "completed"},
        {"type": "function_call_output", "call_id": "1", "output": [1, null]},
        {"type": "item_reference", "id": "m"},
        {"role": "developer", "content": "d"},
    ]);
    app.admin().post(PATH, &ask(&json!({"input": input}))).await.ok_json();
    let seen = app.upstream.received_bodies()[0]["messages"].clone();
    let lines: Vec<String> = seen.as_array().unwrap().iter().map(Value::to_string).collect();
    expect![[r#"
        {"role":"system","content":"Be kind"}
        {"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"https://example.com/a.png","detail":"high"}},{"type":"image_url","image_url":{"url":"https://example.com/a.png","detail":"auto"}},{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]}
        {"role":"assistant","content":[{"type":"text","text":"b"},{"type":"text","text":"c"}],"tool_calls":[{"id":"1","type":"function","function":{"name":"w","arguments":"{"}}]}
        {"role":"tool","content":"[1,null]","tool_call_id":"1"}
        {"role":"system","content":"d"}"#]].assert_eq(&lines.join("\n"));
}

#[tokio::test]
async fn what_is_left_out_is_as_the_model_has_it() {
    let app = start().await;
    for (more, field, expected) in [
        (json!({}), "temperature", Value::Null),
        (json!({"temperature": null}), "temperature", Value::Null),
        (json!({"reasoning": null}), "reasoning_effort", Value::Null),
        (json!({"text": {"format": {"type": "text"}}}), "response_format", Value::Null),
        (
            json!({"text": {"format": {"type": "json_object"}}}),
            "response_format",
            json!({"type": "json_object"}),
        ),
        (
            json!({"tools": [{"type": "function", "name": "w"}], "tool_choice": "required"}),
            "tool_choice",
            json!("required"),
        ),
        (json!({"tools": [{"type": "image_generation"}]}), "tools", Value::Null),
        (
            json!({"model": "qwen3:4b", "reasoning": {"effort": "high"}}),
            "reasoning_effort",
            Value::Null,
        ),
        (
            json!({"instructions": "a"}),
            "messages",
            json!([{"role": "system", "content": "a"}, {"role": "user", "content": "Hi"}]),
        ),
    ] {
        app.admin().post(PATH, &ask(&more)).await.ok_json();
        let seen = app.upstream.received_bodies();
        assert_eq!(seen.last().unwrap().get(field).unwrap_or(&Value::Null), &expected, "{more}");
    }
}

#[tokio::test]
async fn thinking_can_be_declined() {
    let app = start().await;
    let more =
        json!({"reasoning": {"effort": "high"}, "service_parameters": {"disable_thinking": true}});
    app.admin().post(PATH, &ask(&more)).await.ok_json();
    let chat = json!({"model": "kimi-k3", "messages": [{"role": "user", "content": "Hi"}],
        "service_parameters": {"disable_thinking": true}});
    app.admin().post("/chat/completions", &chat).await.ok_json();
    let seen = app.upstream.received_bodies();
    assert_eq!(seen[0]["reasoning_effort"], seen[1]["reasoning_effort"]);
    assert_ne!(seen[0]["reasoning_effort"], "high");
}

#[tokio::test]
async fn a_model_that_is_encrypted_end_to_end_gives_no_responses() {
    let app = TestApp::with_changed_fixture(|fixture| {
        fixture.replace(r#""vision", "multiple_images"]"#, r#""vision", "e2ee"]"#)
    })
    .await;
    let reply = app.admin().post(PATH, &ask(&json!({}))).await;
    assert_eq!(reply.status, 400);
    expect![[r#"[{"code":"custom","path":["model"],"message":"This model is for chats encrypted end to end; use /chat/completions"}]"#]].assert_eq(&reply.json()["issues"].to_string());
}

#[tokio::test]
async fn what_is_wrong_is_told_at_its_field() {
    let app = start().await;
    let image = json!({"type": "input_image", "image_url": PICTURE});
    for (field, more) in [
        ("model", json!({"model": ""})),
        ("model", json!({"model": ["kimi-k3"]})),
        ("input", json!({"input": ""})),
        ("input", json!({"input": []})),
        ("input", json!({"input": [{"role": "user"}]})),
        ("input", json!({"input": [{"role": "tool", "content": "a"}]})),
        (
            "input",
            json!({"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}]}),
        ),
        ("input", json!({"input": [{"role": "user", "content": vec![image; 11]}]})),
        ("input", json!({"input": [{"type": "item_reference", "id": "m"}]})),
        ("input", json!({"input": [{"type": "function_call_output", "output": "a"}]})),
        ("instructions", json!({"instructions": 7})),
        ("include", json!({"include": "all"})),
        ("max_output_tokens", json!({"max_output_tokens": 0})),
        ("max_output_tokens", json!({"max_output_tokens": 1.5})),
        ("temperature", json!({"temperature": 2.1})),
        ("temperature", json!({"temperature": -0.1})),
        ("top_p", json!({"top_p": 1.1})),
        ("fallbacks", json!({"fallbacks": vec![json!({"model": "qwen3:4b"}); 11]})),
        ("fallbacks", json!({"fallbacks": ["qwen3:4b"]})),
        ("reasoning", json!({"reasoning": {"effort": "utmost"}})),
        ("reasoning", json!({"reasoning": {"summary": "long"}})),
        ("text", json!({"text": {"verbosity": "loud"}})),
        ("text", json!({"text": {"format": {"type": "yaml"}}})),
        ("text", json!({"text": {"format": {"type": "json_schema", "name": "a"}}})),
        ("tools", json!({"tools": [{"name": "w"}]})),
        ("tools", json!({"tools": [{"type": "function"}]})),
        ("tools", json!({"tools": [{"type": "x_search", "from_date": "2026-01-01"}]})),
        ("tools", json!({"tools": vec![json!({"type": "later"}); 1025]})),
        ("tools", json!({"tools": [{"type": "mcp"}]})),
        ("tool_choice", json!({"tool_choice": "always"})),
        ("tool_choice", json!({"tool_choice": {"type": "function"}})),
        ("tool_choice", json!({"tool_choice": {"type": "web_search"}})),
        ("parallel_tool_calls", json!({"parallel_tool_calls": "no"})),
        ("web_search", json!({"web_search": "yes"})),
        ("stream", json!({"stream": "yes"})),
        ("prompt_cache_key", json!({"prompt_cache_key": "k".repeat(513)})),
        ("previous_response_id", json!({"previous_response_id": ""})),
        ("background", json!({"background": "yes"})),
        ("store", json!({"store": 1})),
        ("metadata", json!({"metadata": {"a": 1}})),
        ("user", json!({"user": 7})),
        ("service_parameters", json!({"service_parameters": {"enable_web_search": "maybe"}})),
        ("service_parameters", json!({"service_parameters": {"enable_x_search": true}})),
        ("service_parameters", json!({"service_parameters": {"enable_e2ee": true}})),
    ] {
        let reply = app.admin().post(PATH, &ask(&more)).await;
        // More than twenty failures in thirty seconds would block the client.
        app.clock.0.advance(Duration::from_secs(2));
        assert_eq!(reply.status, 400, "{more}: {}", reply.text());
        let issues = reply.json()["issues"].clone();
        let is_named = issues.as_array().unwrap().iter().any(|issue| issue["path"][0] == field);
        assert!(is_named, "{more}: {issues}");
    }
    let unknown = json!({"service_parameters": {"character_slug": "nobody"}});
    assert_eq!(app.admin().post(PATH, &ask(&unknown)).await.status, 404);
    assert!(app.upstream.received_bodies().is_empty());
}

#[tokio::test]
async fn tools_that_other_services_run_are_refused_and_not_forgotten() {
    let app = TestApp::start().await;
    let body = json!({"model": "qwen3:4b", "input": "x", "tools": [
        {"type": "file_search", "vector_store_ids": ["v"], "ranking_options": {"score_threshold": 0.5}},
        {"type": "code_interpreter", "container": {"type": "auto"}},
        {"type": "computer_use_preview", "display_width": 1, "display_height": 1},
    ]});
    let reply = app.admin().post("/responses", &body).await;
    assert_eq!(reply.status, 400);
    let tools = &reply.json()["details"]["tools"];
    for (index, words) in
        ["stores no files", "runs no code", "operates no computer"].iter().enumerate()
    {
        let told = tools[index.to_string()]["type"]["_errors"][0].as_str().unwrap();
        assert!(told.contains(words), "{told}");
    }
    let body = json!({"model": "qwen3:4b", "input": "x", "tools": [
        {"type": "x_search", "allowed_x_handles": vec!["a"; 11], "from_date": "yesterday"},
        {"type": "web_search", "search_context_size": "huge"},
    ]});
    let reply = app.admin().post("/responses", &body).await;
    let tools = &reply.json()["details"]["tools"];
    assert!(tools["0"]["allowed_x_handles"]["_errors"][0].is_string(), "{}", reply.text());
    assert!(tools["0"]["from_date"]["_errors"][0].is_string(), "{}", reply.text());
    assert!(tools["1"]["search_context_size"]["_errors"][0].is_string(), "{}", reply.text());
}

#[tokio::test]
async fn what_was_answered_before_can_be_sent_back_as_it_came() {
    let app = TestApp::start().await;
    let input = json!([
        {"type": "reasoning", "id": "rs_1", "status": "completed", "encrypted_content": "x",
            "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
            "content": [{"type": "output_text", "text": "Hi", "annotations": []}]},
        {"role": "user", "content": "And?"},
    ]);
    let reply = app.admin().post("/responses", &json!({"model": "qwen3:4b", "input": input})).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.json()["output"][0]["content"][0]["annotations"], json!([]));
    let wrong = json!([{"role": "user", "content": "x", "status": "elsewhere"}]);
    let reply = app.admin().post("/responses", &json!({"model": "qwen3:4b", "input": wrong})).await;
    assert_eq!(reply.status, 400);
}
