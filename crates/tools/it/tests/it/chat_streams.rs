//! Tests of `POST /chat/completions` with `stream`, event by event.

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::stream::join_text;
use testkit::upstream::{UpstreamScript, build_chunk};

use crate::chat::{PATH, ask};

fn usage() -> Option<Value> {
    Some(json!({"prompt_tokens": 20, "completion_tokens": 2, "total_tokens": 22}))
}

/// Plays a script to a client and compares all events, one per line.
async fn check(script: UpstreamScript, more: Value, expected: Expect) {
    let app = TestApp::start().await;
    app.upstream.queue_script(script);
    let mut body = ask("kimi-k3", &more);
    body["stream"] = json!(true);
    let mut reply = app.admin().open(PATH, &body).await;
    assert_eq!(reply.status, 200);
    let events = reply.remaining_events().await;
    let id = reply.headers["x-request-id"].to_str().unwrap();
    expected.assert_eq(&events.join("\n").replace(id, "<id>"));
    app.verify_spent().await;
}

#[tokio::test]
async fn chunks_pass_through_under_our_own_name_and_the_last_one_tells_the_cost() {
    check(UpstreamScript::word_stream(&["Hel", "lo"], usage()), json!({}), expect![[r#"
        {"id":"chatcmpl-<id>","object":"chat.completion.chunk","created":1794744000,"model":"kimi-k3","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"},"finish_reason":null}]}
        {"id":"chatcmpl-<id>","object":"chat.completion.chunk","created":1794744000,"model":"kimi-k3","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":null}]}
        {"id":"chatcmpl-<id>","object":"chat.completion.chunk","created":1794744000,"model":"kimi-k3","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":2,"total_tokens":22,"prompt_tokens_details":{"cached_tokens":0,"cache_creation_input_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}},"cost":{"usd":0.0000368,"diem":0.0}}
        [DONE]"#]]).await;
}

#[tokio::test]
async fn who_asks_for_usage_gets_it_in_a_chunk_of_its_own() {
    let more = json!({"stream_options": {"include_usage": true}});
    check(UpstreamScript::word_stream(&["Hello"], usage()), more, expect![[r#"
        {"id":"chatcmpl-<id>","object":"chat.completion.chunk","created":1794744000,"model":"kimi-k3","choices":[{"index":0,"delta":{"role":"assistant","content":"Hello"},"finish_reason":null}]}
        {"id":"chatcmpl-<id>","object":"chat.completion.chunk","created":1794744000,"model":"kimi-k3","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
        {"id":"chatcmpl-<id>","object":"chat.completion.chunk","created":1794744000,"model":"kimi-k3","choices":[],"usage":{"prompt_tokens":20,"completion_tokens":2,"total_tokens":22,"prompt_tokens_details":{"cached_tokens":0,"cache_creation_input_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}},"cost":{"usd":0.0000368,"diem":0.0}}
        [DONE]"#]]).await;
}

#[tokio::test]
async fn an_upstream_that_closes_early_is_an_error_and_not_a_short_answer() {
    let events = [build_chunk(&json!({"role": "assistant", "content": "Hel"}), None)];
    check(UpstreamScript::events(events), json!({}), expect![[r#"
        {"id":"chatcmpl-<id>","object":"chat.completion.chunk","created":1794744000,"model":"kimi-k3","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"},"finish_reason":null}]}
        {"error":{"message":"Inference processing failed","type":"api_error","param":null,"code":"upstream_error"}}"#]]).await;
}

#[tokio::test]
async fn an_error_inside_a_stream_is_an_object_and_nothing_follows_it() {
    let events = [
        build_chunk(&json!({"role": "assistant", "content": "Hel"}), None),
        json!({"error": {"message": "secret details", "code": 500}}),
    ];
    check(UpstreamScript::events(events), json!({}), expect![[r#"
        {"id":"chatcmpl-<id>","object":"chat.completion.chunk","created":1794744000,"model":"kimi-k3","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"},"finish_reason":null}]}
        {"error":{"message":"Inference processing failed","type":"api_error","param":null,"code":"upstream_error"}}"#]]).await;
    let events = [
        build_chunk(&json!({"role": "assistant", "content": "Hel"}), None),
        json!({"error": {"message": "busy", "type": "overloaded_error"}}),
    ];
    check(UpstreamScript::events(events), json!({}), expect![[r#"
        {"id":"chatcmpl-<id>","object":"chat.completion.chunk","created":1794744000,"model":"kimi-k3","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"},"finish_reason":null}]}
        {"error":{"message":"The model is currently overloaded. Please try again later.","type":"server_error","param":null,"code":"model_overloaded","retry_after":30}}"#]]).await;
}

#[tokio::test]
async fn thoughts_are_stripped_even_where_their_tags_are_cut() {
    let words = ["<thi", "nk>hm</th", "ink>\n\n", "Yes", "."];
    let more = json!({"service_parameters": {"strip_thinking_response": true}});
    check(UpstreamScript::word_stream(&words, usage()), more, expect![[r#"
        {"id":"chatcmpl-<id>","object":"chat.completion.chunk","created":1794744000,"model":"kimi-k3","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}
        {"id":"chatcmpl-<id>","object":"chat.completion.chunk","created":1794744000,"model":"kimi-k3","choices":[{"index":0,"delta":{"content":"Yes"},"finish_reason":null}]}
        {"id":"chatcmpl-<id>","object":"chat.completion.chunk","created":1794744000,"model":"kimi-k3","choices":[{"index":0,"delta":{"content":"."},"finish_reason":null}]}
        {"id":"chatcmpl-<id>","object":"chat.completion.chunk","created":1794744000,"model":"kimi-k3","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":2,"total_tokens":22,"prompt_tokens_details":{"cached_tokens":0,"cache_creation_input_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}},"cost":{"usd":0.0000368,"diem":0.0}}
        [DONE]"#]]).await;
}

#[tokio::test]
async fn tool_calls_and_thoughts_are_streamed() {
    let call = |call: Value| build_chunk(&json!({"tool_calls": [call]}), None).to_string();
    let events = vec![
        build_chunk(&json!({"role": "assistant", "reasoning": "Let me see"}), None).to_string(),
        call(
            json!({"index": 0, "id": "c1", "type": "function", "function": {"name": "w", "arguments": ""}}),
        ),
        call(json!({"index": 0, "function": {"arguments": "{}"}})),
        build_chunk(&json!({}), Some("tool_calls")).to_string(),
        "[DONE]".to_owned(),
    ];
    let tool = json!({"type": "function", "function": {"name": "w"}});
    check(UpstreamScript::events(events), json!({"tools": [tool]}), expect![[r#"
        {"id":"chatcmpl-<id>","object":"chat.completion.chunk","created":1794744000,"model":"kimi-k3","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning_content":"Let me see"},"finish_reason":null}]}
        {"id":"chatcmpl-<id>","object":"chat.completion.chunk","created":1794744000,"model":"kimi-k3","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"w","arguments":""}}]},"finish_reason":null}]}
        {"id":"chatcmpl-<id>","object":"chat.completion.chunk","created":1794744000,"model":"kimi-k3","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]},"finish_reason":null}]}
        {"id":"chatcmpl-<id>","object":"chat.completion.chunk","created":1794744000,"model":"kimi-k3","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":16,"completion_tokens":4,"total_tokens":20,"prompt_tokens_details":{"cached_tokens":0,"cache_creation_input_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}},"cost":{"usd":0.00004,"diem":0.0}}
        [DONE]"#]]).await;
}

#[tokio::test]
async fn a_failure_before_the_first_event_has_a_status() {
    let app = TestApp::start().await;
    app.upstream.queue_script(
        UpstreamScript::json(429, &json!({"error": "busy"})).header("retry-after", "7"),
    );
    let reply = app.admin().post(PATH, &ask("qwen3:4b", &json!({"stream": true}))).await;
    assert_eq!(reply.status, 429);
    assert_eq!(reply.header("retry-after"), "7");
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn a_stream_is_marked_so_that_nobody_holds_it_back() {
    let app = TestApp::start().await;
    let client = app.admin().with("accept-encoding", "gzip, br");
    let mut reply = client.open(PATH, &ask("kimi-k3", &json!({"stream": true}))).await;
    assert_eq!(reply.headers["content-type"], "text/event-stream");
    assert_eq!(reply.headers["cache-control"], "no-cache");
    assert_eq!(reply.headers["x-accel-buffering"], "no");
    assert_eq!(reply.headers["x-service-model-id"], "kimi-k3");
    assert!(!reply.headers.contains_key("content-encoding"));
    assert!(reply.headers.contains_key("x-ratelimit-remaining-tokens"));
    assert!(reply.headers.contains_key("x-balance-remaining"));
    assert_eq!(join_text(&reply.remaining_events().await), "Hello there!");
}

#[tokio::test]
async fn a_fallback_streams_when_the_model_does_not_begin() {
    let app = TestApp::start().await;
    app.upstream.queue_script(UpstreamScript::json(500, &json!({"error": "broken"})));
    let body = ask("qwen3:4b", &json!({"stream": true, "fallbacks": [{"model": "kimi-k3"}]}));
    let mut reply = app.admin().open(PATH, &body).await;
    assert_eq!(reply.headers["x-service-model-id"], "kimi-k3");
    let events = reply.remaining_events().await;
    assert!(events[0].contains(r#""model":"kimi-k3""#), "{}", events[0]);
    assert_eq!(app.verify_spent().await.nanos(), 20 * 1_400 + 3 * 4_400);
}
