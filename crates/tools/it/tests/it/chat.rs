//! Tests of `POST /chat/completions`: requests and non-streamed responses.

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::TestReply;
use testkit::upstream::{UpstreamScript, build_completion};

pub(crate) const PATH: &str = "/chat/completions";

/// A short chat with a model, and further fields.
pub(crate) fn ask(model: &str, more: &Value) -> Value {
    let mut body = json!({"model": model, "messages": [{"role": "user", "content": "Say hello"}]});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

async fn post(app: &TestApp, body: &Value) -> TestReply {
    app.admin().post(PATH, body).await
}

/// Compares the faults of a request, one per line.
#[track_caller]
fn check_faults(reply: &TestReply, expected: Expect) {
    assert_eq!(reply.status, 400, "{}", reply.text());
    let body = reply.json();
    let line = |issue: &Value| format!("{}: {}", issue["path"], issue["message"]);
    let lines: Vec<String> = body["issues"].as_array().unwrap().iter().map(line).collect();
    expected.assert_eq(&lines.join("\n"));
}

#[tokio::test]
async fn an_answer_has_every_field_of_the_specification() {
    let app = TestApp::start().await;
    let reply = post(&app, &ask("kimi-k3", &json!({}))).await;
    reply.expect(expect![[r#"200 {"id":"chatcmpl-f53c1028e6364a19739a2d22238ceb38","object":"chat.completion","created":1794744000,"model":"kimi-k3","choices":[{"index":0,"finish_reason":"stop","logprobs":null,"message":{"role":"assistant","content":"Hello there!","reasoning_content":null,"tool_calls":[]},"stop_reason":"stop"}],"prompt_logprobs":null,"usage":{"prompt_tokens":20,"completion_tokens":3,"total_tokens":23,"prompt_tokens_details":{"cached_tokens":0,"cache_creation_input_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}},"cost":{"usd":0.0000412,"diem":0.0},"service_parameters":{"strip_thinking_response":false,"disable_thinking":false,"enable_e2ee":false,"enable_web_search":"off","enable_web_scraping":false,"enable_web_citations":false,"include_search_results_in_stream":false,"return_search_results_as_documents":false,"include_service_system_prompt":true,"web_search_citations":[]}}"#]]);
    assert_eq!(reply.header("x-service-model-id"), "kimi-k3");
    assert_eq!(reply.header("x-service-model-name"), "Kimi K3");
    assert_eq!(reply.header("x-service-balance-usd"), "10", "before the request");
    assert_eq!(reply.header("x-balance-remaining"), "9.9999588", "after it");
    assert_eq!(reply.header("x-ratelimit-limit-requests"), "50");
    assert_eq!(reply.header("x-ratelimit-limit-tokens"), "750000");
}

#[tokio::test]
async fn the_upstream_gets_what_the_caller_meant() {
    let app = TestApp::start().await;
    let body = json!({
        "model": "llama-3.3-70b",
        "messages": [
            {"role": "developer", "content": "Talk like a pirate"},
            {"role": "user", "content": [{"type": "text", "text": "Weather?"}], "name": null},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "w", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
            {"role": "assistant", "content": null},
        ],
        "max_tokens": 50, "temperature": 0.5, "seed": 7, "stop": ["END"], "n": 1,
        "tools": [{"type": "function", "function": {"name": "w", "parameters": {"type": "object"}}}],
        "tool_choice": "auto",
        "response_format": {"type": "json_schema", "json_schema": {"type": "object"}},
        "store": true, "user": "u", "metadata": {"a": "b"}, "logit_bias": {"5": 1},
        "service_parameters": null,
    });
    assert_eq!(post(&app, &body).await.status, 200);
    expect![[r#"{"model":"meta-llama/Llama-3.3-70B-Instruct","messages":[{"role":"system","content":"Be brief.\n\nTalk like a pirate"},{"role":"user","content":[{"type":"text","text":"Weather?"}]},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"w","arguments":"{}"}}]},{"role":"tool","content":"sunny","tool_call_id":"c1"}],"max_tokens":50,"temperature":0.5,"top_p":0.9,"seed":7,"repetition_penalty":1.1,"logit_bias":{"5":1},"stop":["END"],"tools":[{"type":"function","function":{"name":"w","parameters":{"type":"object"}}}],"tool_choice":"auto","response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"}}}}"#]].assert_eq(&app.upstream.received_bodies()[0].to_string());
}

#[tokio::test]
async fn the_text_of_an_answer_is_passed_on_as_it_was_written() {
    let app = TestApp::start().await;
    let written = r#""a \u0022quote\u0022, a \/ and \ud83e\udd80""#;
    let body = build_completion("TEXT", &Value::Null).to_string().replace("\"TEXT\"", written);
    app.upstream.queue_script(UpstreamScript::sound("application/json", &[body.as_bytes()]));
    let reply = post(&app, &ask("kimi-k3", &json!({}))).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert!(reply.text().contains(&format!("\"content\":{written}")), "{}", reply.text());
}

#[tokio::test]
async fn a_model_is_found_by_trait_alias_and_with_options_behind_its_name() {
    let app = TestApp::start().await;
    for (asked, answers) in [
        ("default_reasoning", "kimi-k3"),
        ("gpt-4o-mini", "qwen3:4b"),
        ("qwen3:4b:include_service_system_prompt=false&other=1", "qwen3:4b"),
    ] {
        let answer = post(&app, &ask(asked, &json!({}))).await.ok_json();
        assert_eq!(answer["model"], answers, "{asked}");
    }
    let seen = app.upstream.received_bodies();
    assert_eq!(seen[0]["messages"][0]["content"], testkit::app::SYSTEM_PROMPT);
    assert_eq!(seen[2]["messages"].as_array().unwrap().len(), 1, "the caller declined ours");
}

#[tokio::test]
async fn a_model_that_is_not_there_is_named_with_its_neighbours() {
    let app = TestApp::start().await;
    post(&app, &ask("kimi-k4", &json!({})))
        .await
        .expect(expect![[r#"404 {"error":"Specified model not found. Did you mean kimi-k3?"}"#]]);
    post(&app, &ask("gpt-j-6b", &json!({}))).await.expect(expect![[
        r#"410 {"error":"Model gpt-j-6b has been removed. Please use qwen3:4b instead."}"#
    ]]);
    post(&app, &ask("tts-kokoro", &json!({}))).await.expect(expect![[r#"400 {"error":"Model tts-kokoro is of type tts; this endpoint takes models of type text"}"#]]);
    post(&app, &ask("service-uncensored-1-2", &json!({}))).await.expect(expect![[r#"503 {"error":"The model is temporarily offline. Please try again later or use another model."}"#]]);
}

#[tokio::test]
async fn every_bound_of_the_specification_is_checked_at_once() {
    let app = TestApp::start().await;
    let body = json!({
        "model": 1, "messages": [], "temperature": 3, "top_p": -0.1, "min_p": 2, "n": 0,
        "seed": 1.5, "frequency_penalty": -3, "repetition_penalty": -1, "top_k": -1,
        "stop": ["a", "b", "c", "d", "e"], "reasoning_effort": "huge", "max_completion_tokens": 0,
        "fallbacks": [{}], "tool_choice": "maybe", "prompt_cache_retention": "forever",
        "service_parameters": {"enable_web_search": "yes"},
    });
    check_faults(
        &post(&app, &body).await,
        expect![[r#"
        ["model"]: "Expected string, received number"
        ["messages"]: "Must contain at least 1 element(s)"
        ["temperature"]: "Must be at most 2"
        ["top_p"]: "Must be at least 0"
        ["min_p"]: "Must be at most 1"
        ["n"]: "Must be at least 1"
        ["seed"]: "Expected integer, received float"
        ["frequency_penalty"]: "Must be at least -2"
        ["repetition_penalty"]: "Must be at least 0"
        ["top_k"]: "Must be at least 0"
        ["stop"]: "Must contain at most 4 element(s)"
        ["reasoning_effort"]: "Invalid enum value. Expected 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max', received 'huge'"
        ["max_completion_tokens"]: "Must be at least 1"
        ["fallbacks",0,"model"]: "Required"
        ["tool_choice"]: "Invalid enum value. Expected 'auto' | 'none' | 'required', received 'maybe'"
        ["prompt_cache_retention"]: "Invalid enum value. Expected 'default' | 'extended' | '24h', received 'forever'"
        ["service_parameters","enable_web_search"]: "Invalid enum value. Expected 'off' | 'on' | 'auto', received 'yes'""#]],
    );
}

#[tokio::test]
async fn what_a_model_cannot_do_is_refused_field_by_field() {
    let app = TestApp::start().await;
    let image = json!({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}});
    let body = json!({
        "model": "qwen3:4b",
        "messages": [{"role": "user", "content": [image]}],
        "response_format": {"type": "json_object"}, "logprobs": true, "top_logprobs": 2,
    });
    check_faults(
        &post(&app, &body).await,
        expect![[r#"
        ["messages",0,"content",0]: "This model does not support images"
        ["response_format"]: "This model does not support structured answers"
        ["logprobs"]: "This model does not support log probabilities"
        ["top_logprobs"]: "This model does not support log probabilities""#]],
    );
    let long = ask("llama-3.3-70b", &json!({"max_completion_tokens": 16385}));
    check_faults(
        &post(&app, &long).await,
        expect![[r#"["max_completion_tokens"]: "This model answers with at most 16384 tokens""#]],
    );
    let endless = ask("qwen3:4b", &json!({"max_completion_tokens": 32_769}));
    assert_eq!(post(&app, &endless).await.status, 400, "no answer is longer than the context");
    assert_eq!(app.upstream.received_bodies().len(), 0);
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn the_old_name_of_the_bound_is_cut_to_what_the_model_gives() {
    let app = TestApp::start().await;
    for (sent, passed_on) in [(1_000_000_000_i64, json!(32_768)), (7, json!(7)), (-1, json!(null))]
    {
        let reply = post(&app, &ask("qwen3:4b", &json!({"max_tokens": sent}))).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert_eq!(app.upstream.received_bodies().last().unwrap()["max_tokens"], passed_on);
    }
}

#[tokio::test]
async fn parts_that_cannot_be_sent_are_refused_where_they_stand() {
    let app = TestApp::start().await;
    let body = json!({"model": "kimi-k3", "messages": [{"role": "user", "content": [
        {"type": "image_url", "image_url": {"url": "file:///etc/passwd"}},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,SGk="}},
        {"type": "file", "file": {"file_data": "data:text/plain;base64,SGk=", "filename": "a.txt"}},
    ]}]});
    check_faults(
        &post(&app, &body).await,
        expect![[r#"
        ["messages",0,"content",0]: "Supplied image did not pass validation checks. Send a data URL in base64, or an https or http URL."
        ["messages",0,"content",1]: "Supplied file did not pass validation checks. It is not a PDF.""#]],
    );
}

#[tokio::test]
async fn options_that_this_server_cannot_honour_are_refused() {
    let app = TestApp::start().await;
    let on = json!({"service_parameters": {"enable_web_search": "on", "enable_web_scraping": true,
        "enable_x_search": true, "enable_e2ee": true}});
    check_faults(
        &post(&app, &ask("kimi-k3", &on)).await,
        expect![[r#"
        ["service_parameters","enable_e2ee"]: "End-to-end encryption is not supported by this model; send `false`""#]],
    );
    let character = json!({"venice_parameters": {"character_slug": "nobody"}});
    post(&app, &ask("kimi-k3", &character)).await.expect(expect![[
        r#"404 {"error":"No character could be found from the provided character_slug"}"#
    ]]);
    let off = json!({"service_parameters": {"enable_web_search": "off", "enable_e2ee": false}});
    assert_eq!(post(&app, &ask("kimi-k3", &off)).await.status, 200);
}

#[tokio::test]
async fn thoughts_are_stripped_and_thinking_is_turned_off_on_request() {
    let app = TestApp::start().await;
    let usage = json!({"prompt_tokens": 5, "completion_tokens": 9});
    app.upstream.queue_script(UpstreamScript::json(
        200,
        &build_completion("<think>hm</think>\n\nYes.", &usage),
    ));
    let body = ask("kimi-k3", &json!({"service_parameters": {"disable_thinking": true}}));
    let answer = post(&app, &body).await.ok_json();
    assert_eq!(answer["choices"][0]["message"]["content"], "Yes.");
    assert_eq!(answer["service_parameters"]["disable_thinking"], true);
    let switches = &app.upstream.received_bodies()[0]["chat_template_kwargs"];
    assert_eq!(switches["enable_thinking"], false, "{}", app.upstream.received_bodies()[0]);
}

#[tokio::test]
async fn failures_of_the_upstream_have_statuses_that_clients_know() {
    let app = TestApp::start().await;
    let error = |message: &str| json!({"error": {"message": message}});
    let cases = [
        (UpstreamScript::json(400, &error("temperature is odd")), 400),
        (UpstreamScript::json(400, &error("This model's maximum context length is 5 tokens")), 400),
        (UpstreamScript::json(400, &error("blocked by our content policy")), 422),
        (UpstreamScript::json(429, &error("slow down")).header("retry-after", "7"), 429),
        (UpstreamScript::json(500, &error("secret stack trace")), 500),
        (UpstreamScript::json(401, &error("your key sk-123 is wrong")), 503),
    ];
    let mut told = String::new();
    for (script, status) in cases {
        app.upstream.queue_script(script);
        let reply = post(&app, &ask("qwen3:4b", &json!({}))).await;
        assert_eq!(reply.status, status, "{}", reply.text());
        told.push_str(&reply.text().replace(reply.header("x-request-id"), "<id>"));
        told.push('\n');
        app.clock.advance_s(120);
    }
    expect![[r#"
        {"error":"temperature is odd","request_id":"<id>"}
        {"error":{"message":"This model's maximum context length is 5 tokens","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}
        {"error":"Your prompt violates the content policy of the service or the model provider: blocked by our content policy","code":"CONTENT_POLICY_VIOLATION"}
        {"error":"The model is currently overloaded. Please try again later."}
        {"error":"Inference processing failed"}
        {"error":"The model is temporarily offline. Please try again later or use another model."}
    "#]].assert_eq(&told);
    assert_eq!(app.verify_spent().await.nanos(), 0, "failures are free");
}

#[tokio::test]
async fn a_prompt_that_cannot_fit_is_refused_before_it_is_sent() {
    let app = TestApp::start().await;
    let body = json!({"model": "qwen3:4b", "messages": [
        {"role": "user", "content": "word ".repeat(200_000)}]});
    let reply = post(&app, &body).await;
    assert_eq!(reply.status, 400);
    assert_eq!(reply.json()["error"]["code"], "context_length_exceeded");
    assert_eq!(app.upstream.received_bodies().len(), 0);
}

#[tokio::test]
async fn a_fallback_answers_when_the_model_cannot() {
    let app = TestApp::start().await;
    app.upstream.queue_script(UpstreamScript::json(500, &json!({"error": "broken"})));
    let body = ask("qwen3:4b", &json!({"fallbacks": [{"model": "kimi-k3"}]}));
    let reply = post(&app, &body).await;
    assert_eq!(reply.ok_json()["model"], "kimi-k3");
    assert_eq!(reply.header("x-service-model-id"), "kimi-k3");
    assert_eq!(
        app.verify_spent().await.nanos(),
        20 * 1_400 + 3 * 4_400,
        "at the price of who answered"
    );
    let offline = ask("service-uncensored-1-2", &json!({"fallbacks": [{"model": "kimi-k3"}]}));
    assert_eq!(post(&app, &offline).await.ok_json()["model"], "kimi-k3");
    let unknown = ask("qwen3:4b", &json!({"fallbacks": [{"model": "nothing-like-it"}]}));
    assert_eq!(post(&app, &unknown).await.status, 404);
}
