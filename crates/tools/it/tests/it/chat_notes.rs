//! Tests of the metadata in chat responses, and of the options that remove parts of a response.

use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::upstream::{UpstreamScript, build_chunk, build_completion};

const CHAT: &str = "/chat/completions";

fn ask(model: &str) -> Value {
    json!({"model": model, "messages": [{"role": "user", "content": "Hi"}]})
}

fn with(mut body: Value, more: &Value) -> Value {
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

/// An answer with reasoning content.
fn thoughtful() -> Value {
    let usage = json!({"prompt_tokens": 20, "completion_tokens": 30, "total_tokens": 50});
    let mut answer = build_completion("<think>inside</think>Yes.", &usage);
    answer["choices"][0]["message"]["reasoning_content"] = json!("beside");
    answer
}

#[tokio::test]
async fn thoughts_are_taken_out_wherever_they_stand_and_are_billed() {
    let app = TestApp::start().await;
    for option in ["strip_thinking_response", "disable_thinking"] {
        app.upstream.queue_script(UpstreamScript::json(200, &thoughtful()));
        let body = with(ask("kimi-k3"), &json!({"service_parameters": {option: true}}));
        let answer = app.admin().post(CHAT, &body).await.ok_json();
        let message = &answer["choices"][0]["message"];
        assert_eq!(message["content"], "Yes.");
        assert_eq!(message["reasoning_content"], Value::Null);
        assert_eq!(answer["usage"]["completion_tokens"], 30, "what was thought is paid for");

        let usage = json!({"prompt_tokens": 20, "completion_tokens": 30, "total_tokens": 50});
        app.upstream.queue_script(UpstreamScript::events([
            build_chunk(&json!({"reasoning_content": "beside"}), None).to_string(),
            build_chunk(&json!({"content": "<think>in</think>Yes."}), None).to_string(),
            build_chunk(&json!({}), Some("stop")).to_string(),
            json!({"id": "up-1", "choices": [], "usage": usage}).to_string(),
            "[DONE]".to_owned(),
        ]));
        let body = with(body, &json!({"stream": true}));
        let events = app.admin().open(CHAT, &body).await.remaining_events().await.join("\n");
        assert!(!events.contains("reasoning_content"), "{events}");
        assert!(
            events.contains("Yes.") && events.contains(r#""completion_tokens":30"#),
            "{events}"
        );

        app.upstream.queue_script(UpstreamScript::json(200, &thoughtful()));
        let parameters = json!({"service_parameters": {option: true}});
        let body = with(json!({"model": "kimi-k3", "input": "Hi"}), &parameters);
        let output = app.admin().post("/responses", &body).await.ok_json()["output"].clone();
        assert_eq!(output.as_array().unwrap().len(), 1, "{output}");
        assert_eq!(output[0]["type"], "message");
    }
    app.verify_spent().await;
}

#[tokio::test]
async fn thoughts_that_are_encrypted_are_told_of() {
    let app = TestApp::start().await;
    let details = json!([{"type": "reasoning.encrypted", "data": "x"}]);
    let mut answer = thoughtful();
    answer["choices"][0]["message"]["reasoning_content"] = Value::Null;
    answer["choices"][0]["message"]["reasoning_details"] = details.clone();
    app.upstream.queue_script(UpstreamScript::json(200, &answer));
    let told = app.admin().post(CHAT, &ask("kimi-k3")).await.ok_json();
    let hint = "[Some reasoning content is encrypted]";
    assert_eq!(told["choices"][0]["message"]["reasoning_content"], hint);
    app.upstream.queue_script(UpstreamScript::events([
        build_chunk(&json!({"role": "assistant", "reasoning_details": details}), None).to_string(),
        build_chunk(&json!({"content": "Yes.", "reasoning_details": details}), None).to_string(),
        build_chunk(&json!({}), Some("stop")).to_string(),
        "[DONE]".to_owned(),
    ]));
    let body = with(ask("kimi-k3"), &json!({"stream": true}));
    let events = app.admin().open(CHAT, &body).await.remaining_events().await.join("\n");
    assert_eq!(events.matches(hint).count(), 1, "{events}");
}

#[tokio::test]
async fn an_answer_says_how_its_text_ended_and_which_route_it_took() {
    let app = TestApp::start().await;
    let reply = app.admin().post(CHAT, &ask("qwen3:4b")).await;
    assert_eq!(reply.header("x-service-model-router"), "main");
    assert_eq!(reply.ok_json()["choices"][0]["stop_reason"], "stop");
    let stream = app.admin().open(CHAT, &with(ask("qwen3:4b"), &json!({"stream": true}))).await;
    assert_eq!(stream.headers["x-service-model-router"], "main");
    let mut cut = build_completion("cut", &json!({"prompt_tokens": 2, "completion_tokens": 1}));
    cut["choices"][0]["finish_reason"] = json!("length");
    app.upstream.queue_script(UpstreamScript::json(200, &cut));
    let reply = app.admin().post(CHAT, &ask("qwen3:4b")).await.ok_json();
    assert_eq!(reply["choices"][0]["stop_reason"], "length");
}

#[tokio::test]
async fn a_fallback_that_cannot_take_the_request_is_left_out_and_named() {
    let app = TestApp::start().await;
    let more = json!({"logprobs": true,
        "fallbacks": [{"model": "qwen3:4b"}, {"model": "llama-3.1-405b"}]});
    for body in [with(ask("llama-3.3-70b"), &more), with(ask("llama-3.3-70b"), &more)] {
        let reply = app.admin().post(CHAT, &body).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert_eq!(reply.header("x-service-fallbacks-left-out"), "qwen3:4b, llama-3.1-405b");
    }
}

#[tokio::test]
async fn what_a_server_is_not_told_is_listed() {
    let strict = |fixture: &str| {
        fixture.replacen("kind = \"openai\"", "kind = \"openai\"\ndialect = \"openai\"", 1)
    };
    let app = TestApp::with_changed_fixture(strict).await;
    let more = json!({"top_k": 5, "min_p": 0.1, "reasoning": {"summary": "auto"},
        "reasoning_effort": "low", "logit_bias": {"1": 1}, "temperature": 0.5});
    let reply = app.admin().post(CHAT, &with(ask("kimi-k3"), &more)).await;
    let dropped = "top_k, min_p, reasoning.summary, logit_bias";
    assert_eq!(reply.header("x-service-dropped-parameters"), dropped);
    assert_eq!(app.upstream.received_bodies()[0]["top_k"], Value::Null);
    let body = with(with(ask("kimi-k3"), &more), &json!({"stream": true}));
    let stream = app.admin().open(CHAT, &body).await;
    assert_eq!(stream.headers["x-service-dropped-parameters"], dropped);

    let app = TestApp::start().await;
    let more = json!({"top_k": 5, "min_p": 0.1, "reasoning_effort": "low"});
    let reply = app.admin().post(CHAT, &with(ask("qwen3:4b"), &more)).await;
    assert_eq!(app.upstream.received_bodies()[0]["top_k"], 5, "this one takes it");
    assert_eq!(reply.header("x-service-dropped-parameters"), "reasoning_effort", "it cannot think");
}

#[tokio::test]
async fn the_probabilities_of_a_prompt_are_passed_on() {
    let app = TestApp::start().await;
    let mut answer = build_completion("Yes.", &json!({"prompt_tokens": 2, "completion_tokens": 1}));
    answer["prompt_logprobs"] = json!([null, {"5": {"logprob": -0.5}}]);
    app.upstream.queue_script(UpstreamScript::json(200, &answer));
    let body = with(ask("qwen3:4b"), &json!({"prompt_logprobs": 1}));
    let told = app.admin().post(CHAT, &body).await.ok_json();
    assert_eq!(app.upstream.received_bodies()[0]["prompt_logprobs"], 1);
    assert_eq!(told["prompt_logprobs"], answer["prompt_logprobs"]);
    assert_eq!(
        app.admin().post(CHAT, &ask("qwen3:4b")).await.ok_json()["prompt_logprobs"],
        Value::Null
    );
}

#[tokio::test]
async fn the_first_tokens_probability_stands_beside_all_of_them() {
    let app = TestApp::start().await;
    let mut answer = build_completion("Yes.", &json!({"prompt_tokens": 2, "completion_tokens": 1}));
    let record = json!({"token": "Yes", "logprob": -0.1, "bytes": [89], "top_logprobs": []});
    answer["choices"][0]["logprobs"] = json!({"content": [record, record], "refusal": null});
    app.upstream.queue_script(UpstreamScript::json(200, &answer));
    let told =
        app.admin().post(CHAT, &with(ask("llama-3.3-70b"), &json!({"logprobs": true}))).await;
    let logprobs = told.ok_json()["choices"][0]["logprobs"].clone();
    assert_eq!(logprobs["content"].as_array().unwrap().len(), 2);
    assert_eq!((&logprobs["token"], &logprobs["logprob"]), (&json!("Yes"), &json!(-0.1)));
}

#[tokio::test]
async fn thoughts_are_sent_back_to_the_engine_as_they_came() {
    let app = TestApp::start().await;
    let detail = json!({"type": "reasoning.text", "text": "hm", "format": "f", "id": "r1",
        "index": 0, "signature": "s"});
    let body = json!({"model": "kimi-k3", "messages": [{"role": "user", "content": "x"},
        {"role": "assistant", "content": "y", "reasoning_details": [detail]},
        {"role": "user", "content": "z"}],
        "tools": [{"id": "t1", "type": "function", "function": {"name": "f"}}]});
    assert_eq!(app.admin().post(CHAT, &body).await.status, 200);
    let seen = app.upstream.received_bodies()[0].clone();
    assert_eq!(seen["messages"][2]["reasoning_details"][0], detail);
    assert_eq!(seen["tools"][0]["id"], Value::Null);
    let wrong = json!({"model": "kimi-k3", "messages": [{"role": "assistant", "content": "y",
        "reasoning_details": [{"text": "no type"}]}]});
    assert_eq!(app.admin().post(CHAT, &wrong).await.status, 400);
}
