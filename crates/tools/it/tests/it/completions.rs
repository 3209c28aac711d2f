//! Tests of `POST /completions`: the continuation of a text.

use expect_test::expect;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::TestReply;
use testkit::upstream::UpstreamScript;

const PATH: &str = "/completions";

/// A non-streamed answer of an upstream.
pub(crate) fn text(text: &str, usage: &Value) -> UpstreamScript {
    let choice = json!({"index": 0, "text": text, "finish_reason": "stop", "logprobs": null});
    let answer = json!({"id": "up-1", "object": "text_completion", "choices": [choice],
        "usage": usage});
    UpstreamScript::json(200, &answer)
}

/// A stream of these texts that ends properly, with usage.
fn texts(texts: &[&str]) -> UpstreamScript {
    let chunk = |text: &str, finish: Option<&str>| {
        let choice = json!({"index": 0, "text": text, "finish_reason": finish});
        json!({"id": "up-1", "choices": [choice]}).to_string()
    };
    let mut events: Vec<String> = texts.iter().map(|text| chunk(text, None)).collect();
    events.push(chunk("", Some("stop")));
    events.push(json!({"id": "up-1", "choices": [], "usage": usage()}).to_string());
    events.push("[DONE]".to_owned());
    UpstreamScript::events(events)
}

fn usage() -> Value {
    json!({"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7})
}

async fn post(app: &TestApp, more: &Value) -> TestReply {
    let mut body = json!({"model": "kimi-k3", "prompt": "fn add("});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    app.admin().post(PATH, &body).await
}

#[tokio::test]
async fn a_text_is_continued_and_charged_by_the_token() {
    let app = TestApp::start().await;
    app.upstream.queue_script(text("a, b)", &usage()));
    let reply = post(&app, &json!({"suffix": "{}", "stop": "\n", "max_tokens": 9})).await;
    reply.expect(expect![[r#"200 {"id":"cmpl-f53c1028e6364a19739a2d22238ceb38","object":"text_completion","created":1794744000,"model":"kimi-k3","choices":[{"index":0,"text":"a, b)","logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7,"prompt_tokens_details":{"cached_tokens":0,"cache_creation_input_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}},"cost":{"usd":0.0000158,"diem":0.0}}"#]]);
    expect![[
        r#"{"model":"kimi-k3","prompt":"fn add(","suffix":"{}","max_tokens":9,"stop":["\n"]}"#
    ]]
    .assert_eq(&app.upstream.received_bodies()[0].to_string());
    assert_eq!(reply.header("x-service-model-id"), "kimi-k3");
    assert_eq!(reply.header("x-balance-remaining"), "9.9999842");
    assert_eq!(app.verify_spent().await.to_string(), "0.0000158");
}

#[tokio::test]
async fn a_caller_who_says_no_length_gets_a_short_text() {
    let app = TestApp::start().await;
    app.upstream.queue_script(text("a", &usage()));
    post(&app, &json!({"prompt": ["fn add("]})).await.ok_json();
    assert_eq!(app.upstream.received_bodies()[0]["max_tokens"], 16);
    assert_eq!(app.upstream.received_bodies()[0]["prompt"], "fn add(");
}

#[tokio::test]
async fn a_stream_ends_with_its_usage_on_the_last_choice() {
    let app = TestApp::start().await;
    app.upstream.queue_script(texts(&["a, ", "b)"]));
    let reply = post(&app, &json!({"stream": true})).await;
    expect![[r#"
        data: {"id":"cmpl-f53c1028e6364a19739a2d22238ceb38","object":"text_completion","created":1794744000,"model":"kimi-k3","choices":[{"index":0,"text":"a, ","logprobs":null,"finish_reason":null}]}

        data: {"id":"cmpl-f53c1028e6364a19739a2d22238ceb38","object":"text_completion","created":1794744000,"model":"kimi-k3","choices":[{"index":0,"text":"b)","logprobs":null,"finish_reason":null}]}

        data: {"id":"cmpl-f53c1028e6364a19739a2d22238ceb38","object":"text_completion","created":1794744000,"model":"kimi-k3","choices":[{"index":0,"text":"","logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7,"prompt_tokens_details":{"cached_tokens":0,"cache_creation_input_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}},"cost":{"usd":0.0000158,"diem":0.0}}

        data: [DONE]

    "#]].assert_eq(&reply.text());
    assert_eq!(app.verify_spent().await.to_string(), "0.0000158");
}

#[tokio::test]
async fn a_stream_that_was_asked_to_tells_its_usage_apart() {
    let app = TestApp::start().await;
    app.upstream.queue_script(texts(&["a"]));
    let options = json!({"include_usage": true});
    let reply = post(&app, &json!({"stream": true, "stream_options": options})).await.text();
    let chunks: Vec<&str> = reply.split_terminator("\n\n").collect();
    assert_eq!(chunks.last(), Some(&"data: [DONE]"));
    assert!(chunks[chunks.len() - 2].contains(r#""choices":[],"usage":{"#), "{reply}");
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_an_error_without_an_end_mark() {
    let app = TestApp::start().await;
    let script = texts(&["one ", "two ", "three "]);
    let cut = script.body().len() / 3;
    app.upstream.queue_script(script.break_after(cut));
    let reply = post(&app, &json!({"stream": true})).await.text();
    assert!(reply.contains(r#"data: {"error":{"#), "{reply}");
    assert!(!reply.contains("[DONE]"), "{reply}");
    assert!(app.verify_spent().await.is_positive());
}

#[tokio::test]
async fn an_upstream_that_reports_no_usage_is_not_free() {
    let app = TestApp::start().await;
    app.upstream.queue_script(text("some words that were made", &Value::Null));
    let answer = post(&app, &json!({})).await.ok_json();
    assert_ne!(answer["usage"]["completion_tokens"], 0);
    assert!(app.verify_spent().await.is_positive());
}

#[tokio::test]
async fn what_is_not_offered_is_refused_at_its_field() {
    let app = TestApp::start().await;
    let bad = [
        ("prompt", json!({"prompt": ""})),
        ("prompt", json!({"prompt": []})),
        ("prompt", json!({"prompt": ["a", ""]})),
        ("prompt", json!({"prompt": ["a", 1]})),
        ("prompt", json!({"prompt": [[]]})),
        ("prompt", json!({"prompt": [-1]})),
        ("prompt", json!({"prompt": vec!["a"; 129]})),
        ("prompt", json!({"prompt": ["a", "b"], "n": 65})),
        ("echo", json!({"echo": true, "prompt": [1, 2]})),
        ("echo", json!({"model": "llama-3.3-70b", "echo": true, "logprobs": 1})),
        ("best_of", json!({"best_of": 2})),
        ("logprobs", json!({"logprobs": 1})),
        ("logprobs", json!({"logprobs": 6})),
        ("max_tokens", json!({"max_tokens": 0})),
        ("max_tokens", json!({"model": "llama-3.3-70b", "max_tokens": 16385})),
    ];
    for (field, more) in bad {
        let reply = post(&app, &more).await;
        assert_eq!(reply.status, 400, "{more}");
        assert!(reply.json()["details"][field].is_object(), "{more}: {}", reply.text());
    }
    assert!(app.upstream.received_bodies().is_empty());
}

#[tokio::test]
async fn an_account_without_money_is_told_so() {
    let app = TestApp::start().await;
    let poor = app.another_account("poor").await;
    let reply = poor.post(PATH, &json!({"model": "kimi-k3", "prompt": "a"})).await;
    assert_eq!((reply.status, &reply.json()["code"]), (402, &json!("INSUFFICIENT_BALANCE")));
    assert!(app.upstream.received_bodies().is_empty());
}

/// A chunk or whole answer with these choices.
fn choices(choices: &[(u32, &str, Option<&str>)], usage: &Value) -> Value {
    let choice = |(index, text, finish): &(u32, &str, Option<&str>)| json!({"index": index, "text": text, "finish_reason": finish});
    let choices: Vec<Value> = choices.iter().map(choice).collect();
    json!({"id": "up-1", "object": "text_completion", "choices": choices, "usage": usage})
}

#[tokio::test]
async fn several_prompts_are_continued_each_on_its_own_and_paid_together() {
    let app = TestApp::start().await;
    let stop = Some("stop");
    let usage = json!({"prompt_tokens": 9, "completion_tokens": 4});
    let four = [(0, "1", stop), (1, "2", stop), (2, "3", stop), (3, "4", stop)];
    for (prompt, echo, texts) in [
        (json!(["a", "b"]), false, ["1", "2", "3", "4"]),
        (json!(["a", "b"]), true, ["a1", "a2", "b3", "b4"]),
        (json!([[7, 8], [9]]), false, ["1", "2", "3", "4"]),
    ] {
        app.upstream.queue_script(UpstreamScript::json(200, &choices(&four, &usage)));
        let answer = post(&app, &json!({"prompt": prompt, "n": 2, "echo": echo})).await.ok_json();
        let told: Vec<&str> = answer["choices"]
            .as_array()
            .unwrap()
            .iter()
            .map(|choice| choice["text"].as_str().unwrap())
            .collect();
        assert_eq!(told, texts);
        let seen = app.upstream.received_bodies();
        assert_eq!(seen.last().unwrap()["prompt"], prompt);
        assert_eq!(seen.last().unwrap().get("echo"), None, "the prompt is repeated by us");
    }
    assert_eq!(app.verify_spent().await.nanos(), 3 * (9 * 1_400 + 4 * 4_400));
}

#[tokio::test]
async fn a_stream_of_several_prompts_repeats_each_once() {
    let app = TestApp::start().await;
    let events = [
        choices(&[(1, "x", None)], &Value::Null),
        choices(&[(0, "y", None)], &Value::Null),
        choices(&[(1, "z", Some("stop"))], &Value::Null),
        choices(&[(0, "", Some("length"))], &Value::Null),
        choices(&[], &usage()),
    ];
    let events = events.iter().map(Value::to_string).chain(["[DONE]".to_owned()]);
    app.upstream.queue_script(UpstreamScript::events(events));
    let reply = post(&app, &json!({"prompt": ["a", "b"], "echo": true, "stream": true})).await;
    let mut texts = [String::new(), String::new()];
    for event in reply.text().split("\n\n").filter_map(|event| event.strip_prefix("data: {")) {
        let chunk: Value = serde_json::from_str(&format!("{{{event}")).unwrap();
        for choice in chunk["choices"].as_array().unwrap() {
            let index = usize::try_from(choice["index"].as_u64().unwrap()).unwrap();
            texts[index].push_str(choice["text"].as_str().unwrap());
        }
    }
    assert_eq!(texts, ["ay", "bxz"]);
    assert_eq!(app.verify_spent().await.nanos(), 5 * 1_400 + 2 * 4_400);
}

#[tokio::test]
async fn a_prompt_that_does_not_fit_is_named_by_its_own_field() {
    let app = TestApp::start().await;
    let long = "word ".repeat(200_000);
    let reply = post(&app, &json!({"model": "qwen3:4b", "prompt": long})).await;
    assert_eq!(reply.json()["error"]["param"], "prompt", "{}", reply.text());
    let overflow = json!({"error": {"message": "This model's maximum context length is 5 tokens"}});
    for stream in [false, true] {
        app.upstream.queue_script(UpstreamScript::json(400, &overflow));
        let reply = post(&app, &json!({"stream": stream})).await;
        assert_eq!(reply.json()["error"]["param"], "prompt", "{}", reply.text());
        app.upstream.queue_script(UpstreamScript::json(400, &overflow));
        let body = json!({"model": "kimi-k3", "input": "a", "stream": stream});
        let reply = app.admin().post("/responses", &body).await;
        assert_eq!(reply.json()["error"]["param"], "input", "{}", reply.text());
    }
}

#[tokio::test]
async fn the_money_for_all_prompts_is_held_before_any_is_continued() {
    let app = TestApp::start().await;
    let (_, client) = app.funded_account("small", "0.001").await;
    let body =
        |prompts| json!({"model": "kimi-k3", "max_tokens": 100, "prompt": vec!["a"; prompts]});
    assert_eq!(client.post(PATH, &body(10)).await.status, 402, "a thousand tokens cost $0.0044");
    assert!(app.upstream.received_bodies().is_empty());
    app.upstream.queue_script(text("b", &usage()));
    assert_eq!(client.post(PATH, &body(1)).await.status, 200, "a hundred cost $0.00044");
}
