//! Tests of every field of a chat: its upstream form, and the error for a wrong value.

use expect_test::expect;
use serde_json::{Value, json};
use testkit::app::TestApp;

use crate::chat::{PATH, ask};

/// `kimi-k3` with every capability that a field needs.
async fn start() -> TestApp {
    let few = r#""vision", "multiple_images"]"#;
    let all = r#""vision", "multiple_images", "json_schema", "logprobs"]"#;
    TestApp::with_changed_fixture(|fixture| fixture.replace(few, all)).await
}

#[tokio::test]
async fn every_field_reaches_an_upstream_that_takes_it() {
    let app = start().await;
    let tool = json!({"type": "function", "function": {"name": "w", "description": "d",
        "parameters": {"type": "object"}, "strict": true}});
    let body = json!({
        "model": "kimi-k3",
        "messages": [
            {"role": "system", "content": [
                {"type": "text", "text": "Be kind", "cache_control": {"type": "ephemeral", "ttl": "1h"}}]},
            {"role": "user", "content": "Hi", "name": "ann"},
            {"role": "assistant", "content": "Hm", "reasoning_content": "Why?", "name": "bot",
                "reasoning_details": [{"type": "reasoning.text", "text": "Why?"}],
                "thought_signature": "sig"},
            {"role": "user", "content": [{"type": "text", "text": "Go on",
                "cache_control": {"type": "ephemeral"}}]},
        ],
        "frequency_penalty": 0.5, "presence_penalty": -0.5, "repetition_penalty": 1.2,
        "logprobs": true, "top_logprobs": 3, "max_completion_tokens": 77, "max_tokens": 5,
        "min_p": 0.05, "top_p": 0.9, "top_k": 40, "temperature": 0.6, "min_temp": 0.1,
        "max_temp": 1.5, "n": 2, "seed": 11, "stop": "END", "stop_token_ids": [1, 2],
        "reasoning": {"effort": "low", "summary": "auto"}, "reasoning_effort": "high",
        "text": {"verbosity": "high"}, "prompt_cache_key": "k", "prompt_cache_retention": "24h",
        "tools": [tool], "tool_choice": {"type": "function", "function": {"name": "w"}},
        "parallel_tool_calls": false,
        "response_format": {"type": "json_schema", "json_schema":
            {"name": "answer", "strict": true, "schema": {"type": "object"}}},
        "store": true, "include": ["a"], "metadata": {"a": "b"}, "user": "u", "anon_user_id": "a b",
        "logit_bias": {"5": 1},
    });
    app.admin().post(PATH, &body).await.ok_json();
    let seen = app.upstream.received_bodies()[0].clone();
    let lines: Vec<String> =
        seen.as_object().unwrap().iter().map(|(name, value)| format!("{name}: {value}")).collect();
    expect![[r#"
        model: "kimi-k3"
        messages: [{"role":"system","content":[{"type":"text","text":"Be brief.\n\n"},{"type":"text","text":"Be kind","cache_control":{"type":"ephemeral","ttl":"1h"}}]},{"role":"user","content":"Hi","name":"ann"},{"role":"assistant","content":"Hm","name":"bot","reasoning_content":"Why?","reasoning_details":[{"type":"reasoning.text","text":"Why?"}],"thought_signature":"sig"},{"role":"user","content":[{"type":"text","text":"Go on","cache_control":{"type":"ephemeral"}}]}]
        max_tokens: 77
        temperature: 0.6
        top_p: 0.9
        frequency_penalty: 0.5
        presence_penalty: -0.5
        seed: 11
        top_k: 40
        min_p: 0.05
        min_temp: 0.1
        max_temp: 1.5
        repetition_penalty: 1.2
        stop_token_ids: [1,2]
        logit_bias: {"5":1}
        stop: ["END"]
        n: 2
        logprobs: true
        top_logprobs: 3
        tools: [{"type":"function","function":{"name":"w","description":"d","parameters":{"type":"object"},"strict":true}}]
        tool_choice: {"type":"function","function":{"name":"w"}}
        parallel_tool_calls: false
        response_format: {"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":{"type":"object"}}}
        reasoning_effort: "high"
        verbosity: "high"
        prompt_cache_key: "k"
        prompt_cache_retention: "24h""#]].assert_eq(&lines.join("\n"));
}

#[tokio::test]
async fn fields_that_win_over_others_do() {
    let app = start().await;
    for (more, field, expected) in [
        (json!({"verbosity": "low", "text": {"verbosity": "high"}}), "verbosity", json!("low")),
        (json!({"reasoning": {"effort": "high"}}), "reasoning_effort", json!("high")),
        (json!({"max_tokens": 0}), "max_tokens", Value::Null),
        (json!({"max_tokens": 9}), "max_tokens", json!(9)),
        (json!({"stop": ["a", "b", "c", "d"]}), "stop", json!(["a", "b", "c", "d"])),
        (json!({"stop": null}), "stop", Value::Null),
        (json!({"temperature": null}), "temperature", Value::Null),
    ] {
        app.admin().post(PATH, &ask("kimi-k3", &more)).await.ok_json();
        let seen = app.upstream.received_bodies();
        assert_eq!(seen.last().unwrap().get(field).unwrap_or(&Value::Null), &expected, "{more}");
    }
}

#[tokio::test]
async fn every_option_behind_a_models_name_wins_over_the_body() {
    let app = start().await;
    let sent = json!({"service_parameters": {"strip_thinking_response": false,
        "include_service_system_prompt": true, "enable_web_citations": false}});
    let model = "kimi-k3:strip_thinking_response=true&disable_thinking=true\
        &include_service_system_prompt=false&enable_web_citations=true\
        &include_search_results_in_stream=true&return_search_results_as_documents=true\
        &enable_web_search=off&enable_web_scraping=false&unknown=1";
    let answer = app.admin().post(PATH, &ask(model, &sent)).await.ok_json();
    expect![[r#"{"strip_thinking_response":true,"disable_thinking":true,"enable_e2ee":false,"enable_web_search":"off","enable_web_scraping":false,"enable_web_citations":true,"include_search_results_in_stream":true,"return_search_results_as_documents":true,"include_service_system_prompt":false,"web_search_citations":[]}"#]].assert_eq(&answer["service_parameters"].to_string());
    let wrong = app.admin().post(PATH, &ask("kimi-k3:disable_thinking=maybe", &json!({}))).await;
    assert_eq!(wrong.status, 400);
    let unknown = ask("kimi-k3:character_slug=nobody%20here", &json!({}));
    assert_eq!(app.admin().post(PATH, &unknown).await.status, 404);
}

#[tokio::test]
async fn what_no_schema_says_is_checked_too() {
    let app = start().await;
    for (field, more) in [
        ("anon_user_id", json!({"anon_user_id": "a||b"})),
        ("anon_user_id", json!({"anon_user_id": "ä"})),
        ("anon_user_id", json!({"anon_user_id": ""})),
        ("fallbacks", json!({"fallbacks": vec![json!({"model": "qwen3:4b"}); 11]})),
        ("metadata", json!({"metadata": {"a": 1}})),
        ("verbosity", json!({"verbosity": "loud"})),
        ("text", json!({"text": {"verbosity": "loud"}})),
        ("reasoning", json!({"reasoning": {"summary": "long"}})),
        ("stop_token_ids", json!({"stop_token_ids": ["a"]})),
        ("min_temp", json!({"min_temp": 2.1})),
        ("max_temp", json!({"max_temp": -0.1})),
        ("presence_penalty", json!({"presence_penalty": 2.1})),
        ("response_format", json!({"response_format": {"type": "yaml"}})),
        ("tools", json!({"tools": [{"type": "function"}]})),
        ("stream_options", json!({"stream_options": {"include_usage": "yes"}})),
    ] {
        let reply = app.admin().post(PATH, &ask("kimi-k3", &more)).await;
        assert_eq!(reply.status, 400, "{more}: {}", reply.text());
        assert!(reply.json()["details"][field].is_object(), "{more}: {}", reply.text());
    }
    assert!(app.upstream.received_bodies().is_empty());
}
