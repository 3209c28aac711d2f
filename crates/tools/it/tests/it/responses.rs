//! Tests of `POST /responses`: items in and out, whole and as numbered events.

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::TestReply;
use testkit::upstream::{UpstreamScript, build_chunk, build_completion};

const PATH: &str = "/responses";

async fn post(app: &TestApp, body: &Value) -> TestReply {
    app.admin().post(PATH, body).await
}

fn usage() -> Value {
    json!({
        "prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 1},
    })
}

/// A non-streamed answer with this message.
fn message(message: &Value, finish_reason: &str) -> UpstreamScript {
    let mut answer = build_completion("", &usage());
    answer["choices"][0]["message"] = message.clone();
    answer["choices"][0]["finish_reason"] = json!(finish_reason);
    UpstreamScript::json(200, &answer)
}

/// A stream of these deltas with this finish reason.
fn deltas(deltas: &[Value], finish_reason: &str) -> UpstreamScript {
    let mut events: Vec<String> =
        deltas.iter().map(|it| build_chunk(it, None).to_string()).collect();
    events.push(build_chunk(&json!({}), Some(finish_reason)).to_string());
    events.push(json!({"id": "up-1", "choices": [], "usage": usage()}).to_string());
    events.push("[DONE]".to_owned());
    UpstreamScript::events(events)
}

/// The events of a stream, after checking that each is named and numbered.
#[track_caller]
fn events(reply: &TestReply) -> Vec<Value> {
    assert_eq!(reply.header("content-type"), "text/event-stream", "{}", reply.text());
    let mut events = Vec::new();
    for event in reply.text().split_terminator("\n\n") {
        let Some((name, data)) = event.split_once('\n') else {
            assert_eq!(event, "data: [DONE]");
            events.push(json!("[DONE]"));
            continue;
        };
        let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(name.strip_prefix("event: "), data["type"].as_str());
        assert_eq!(data["sequence_number"], events.len());
        events.push(data);
    }
    events
}

/// Compares the types of events and their content, one per line.
#[track_caller]
fn check_events(reply: &TestReply, expected: Expect) {
    let line = |event: &Value| {
        let kind = event["type"].as_str().unwrap_or("[DONE]");
        let place = event.get("output_index").map_or(String::new(), |it| format!(" {it}"));
        let added = event.get("delta").map_or(String::new(), |it| format!(" {it}"));
        format!("{kind}{place}{added}\n")
    };
    let lines: String = events(reply).iter().map(line).collect();
    expected.assert_eq(&lines);
}

#[track_caller]
fn check_faults(reply: &TestReply, expected: Expect) {
    assert_eq!(reply.status, 400, "{}", reply.text());
    let body = reply.json();
    let line = |issue: &Value| format!("{}: {}", issue["path"], issue["message"]);
    let lines: Vec<String> = body["issues"].as_array().unwrap().iter().map(line).collect();
    expected.assert_eq(&lines.join("\n"));
}

#[tokio::test]
async fn a_text_is_answered_with_a_message() {
    let app = TestApp::start().await;
    let reply = post(&app, &json!({"model": "kimi-k3", "input": "Say hello"})).await;
    reply.expect(expect![[r#"200 {"id":"resp_f53c1028e6364a19739a2d22238ceb38","object":"response","created_at":1794744000,"model":"kimi-k3","status":"completed","output":[{"type":"message","id":"msg_f53c1028e6364a19739a2d22238ceb38_0","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Hello there!","annotations":[]}]}],"parallel_tool_calls":true,"tool_choice":"auto","tools":[],"usage":{"input_tokens":20,"input_tokens_details":{"cached_tokens":0},"output_tokens":3,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":23},"incomplete_details":null,"error":null}"#]]);
    assert_eq!(reply.header("x-service-model-id"), "kimi-k3");
    assert_eq!(reply.header("x-balance-remaining"), "9.9999588");
    assert_eq!(reply.header("x-ratelimit-limit-tokens"), "750000");
    assert_eq!(app.verify_spent().await.to_string(), "0.0000412");
}

#[tokio::test]
async fn the_upstream_gets_the_conversation_as_turns() {
    let app = TestApp::start().await;
    let body = json!({
        "model": "kimi-k3",
        "instructions": "Talk like a pirate",
        "input": [
            {"role": "developer", "content": "Briefly"},
            {"type": "message", "role": "user", "id": "m1", "content": [
                {"type": "input_text", "text": "What is this, and the weather?"},
                {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAEAAAABA", "detail": "low"}]},
            {"type": "reasoning", "id": "r1", "summary": [], "encrypted_content": "x"},
            {"type": "message", "role": "assistant", "status": "completed", "content": [
                {"type": "output_text", "text": "I look.", "annotations": []}]},
            {"type": "function_call", "call_id": "c1", "name": "w", "arguments": "{}"},
            {"type": "function_call", "call_id": "c2", "name": "v", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "sun"},
            {"type": "function_call_output", "call_id": "c2", "output": {"sky": "blue"}},
            {"type": "item_reference", "id": "m1"},
        ],
        "max_output_tokens": 50, "temperature": 0.5, "top_p": 0.4, "store": true, "user": "u",
        "reasoning": {"effort": "low", "summary": "auto"},
        "tools": [
            {"type": "function", "name": "w", "parameters": {"type": "object"}, "strict": true},
            {"type": "function", "function": {"name": "v"}},
            {"type": "image_generation", "size": "auto"},
        ],
        "tool_choice": {"type": "function", "name": "w"},
        "truncation": "auto",
    });
    let answer = post(&app, &body).await.ok_json();
    expect![[r#"{"model":"kimi-k3","messages":[{"role":"system","content":"Talk like a pirate\n\nBriefly"},{"role":"user","content":[{"type":"text","text":"What is this, and the weather?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAEAAAABA","detail":"low"}}]},{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"w","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"v","arguments":"{}"}}]},{"role":"tool","content":"sun","tool_call_id":"c1"},{"role":"tool","content":"{\"sky\":\"blue\"}","tool_call_id":"c2"}],"max_tokens":50,"temperature":0.5,"top_p":0.4,"tools":[{"type":"function","function":{"name":"w","parameters":{"type":"object"},"strict":true}},{"type":"function","function":{"name":"v"}}],"tool_choice":{"type":"function","function":{"name":"w"}},"reasoning_effort":"low"}"#]].assert_eq(&app.upstream.received_bodies()[0].to_string());
    assert_eq!(answer["tool_choice"], json!({"type": "function", "name": "w"}));
    assert_eq!(answer["tools"].as_array().unwrap().len(), 2);
    assert_eq!(answer["tools"][0]["strict"], true);
}

#[tokio::test]
async fn a_schema_is_passed_on_under_its_name() {
    let app = TestApp::start().await;
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let format = json!({"type": "json_schema", "name": "thing", "schema": schema, "strict": true});
    let body = json!({"model": "llama-3.3-70b", "input": "Hi", "text": {"format": format}});
    post(&app, &body).await.ok_json();
    let sent = &app.upstream.received_bodies()[0]["response_format"]["json_schema"];
    assert_eq!(sent, &json!({"name": "thing", "schema": schema, "strict": true}));
}

#[tokio::test]
async fn thoughts_and_calls_come_before_the_message() {
    let app = TestApp::start().await;
    let call =
        json!({"id": "c1", "type": "function", "function": {"name": "w", "arguments": "{}"}});
    let said = json!({"role": "assistant", "content": "I look.", "reasoning_content": "Hm.",
        "tool_calls": [call]});
    app.upstream.queue_script(message(&said, "tool_calls"));
    let answer = post(&app, &json!({"model": "kimi-k3", "input": "Weather?"})).await.ok_json();
    expect![[r#"[{"type":"reasoning","id":"rs_f53c1028e6364a19739a2d22238ceb38_0","summary":[{"type":"summary_text","text":"Hm."}]},{"type":"function_call","id":"fc_f53c1028e6364a19739a2d22238ceb38_1","call_id":"c1","name":"w","arguments":"{}","status":"completed"},{"type":"message","id":"msg_f53c1028e6364a19739a2d22238ceb38_2","status":"completed","role":"assistant","content":[{"type":"output_text","text":"I look.","annotations":[]}]}]"#]].assert_eq(&answer["output"].to_string());
    assert_eq!(answer["status"], "completed");
    assert_eq!(answer["usage"]["input_tokens_details"]["cached_tokens"], 4);
    assert_eq!(answer["usage"]["output_tokens_details"]["reasoning_tokens"], 1);
}

#[tokio::test]
async fn an_answer_that_was_cut_short_says_why() {
    for (finish, reason) in [("length", "max_output_tokens"), ("content_filter", "content_filter")]
    {
        let app = TestApp::start().await;
        app.upstream.queue_script(message(&json!({"role": "assistant", "content": "Hel"}), finish));
        let answer = post(&app, &json!({"model": "kimi-k3", "input": "Hi"})).await.ok_json();
        assert_eq!(answer["status"], "incomplete");
        assert_eq!(answer["incomplete_details"], json!({"reason": reason}));
        assert_eq!(answer["output"][0]["status"], "incomplete");
    }
}

#[tokio::test]
async fn a_stream_tells_each_item_from_its_beginning_to_its_end() {
    let app = TestApp::start().await;
    let first = json!({"index": 0, "id": "c1", "type": "function",
        "function": {"name": "w", "arguments": ""}});
    let more = json!({"index": 0, "function": {"arguments": "{\"city\":1}"}});
    let script = [
        json!({"role": "assistant", "reasoning_content": "Hm."}),
        json!({"content": "I "}),
        json!({"content": "look."}),
        json!({"tool_calls": [first]}),
        json!({"tool_calls": [more]}),
    ];
    app.upstream.queue_script(deltas(&script, "tool_calls"));
    let reply = post(&app, &json!({"model": "kimi-k3", "input": "Hi", "stream": true})).await;
    check_events(
        &reply,
        expect![[r#"
        response.created
        response.in_progress
        response.output_item.added 0
        response.reasoning.delta 0 "Hm."
        response.output_item.done 0
        response.output_item.added 1
        response.content_part.added 1
        response.output_text.delta 1 "I "
        response.output_text.delta 1 "look."
        response.output_text.done 1
        response.content_part.done 1
        response.output_item.done 1
        response.output_item.added 2
        response.function_call_arguments.delta 2 "{\"city\":1}"
        response.function_call_arguments.done 2
        response.output_item.done 2
        response.completed
        [DONE]
    "#]],
    );
    let told = events(&reply);
    let whole = &told[told.len() - 2]["response"];
    expect![[r#"[{"type":"reasoning","id":"rs_f53c1028e6364a19739a2d22238ceb38_0","summary":[{"type":"summary_text","text":"Hm."}]},{"type":"message","id":"msg_f53c1028e6364a19739a2d22238ceb38_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"I look.","annotations":[]}]},{"type":"function_call","id":"fc_f53c1028e6364a19739a2d22238ceb38_2","call_id":"c1","name":"w","arguments":"{\"city\":1}","status":"completed"}]"#]].assert_eq(&whole["output"].to_string());
    assert_eq!(whole["usage"]["total_tokens"], 23);
    assert_eq!(told[0]["response"]["status"], "in_progress");
    assert_eq!(reply.header("x-accel-buffering"), "no");
    app.verify_spent().await;
}

#[tokio::test]
async fn a_stream_that_runs_out_of_tokens_is_incomplete() {
    let app = TestApp::start().await;
    app.upstream.queue_script(deltas(&[json!({"role": "assistant", "content": "Hel"})], "length"));
    let reply = post(&app, &json!({"model": "kimi-k3", "input": "Hi", "stream": true})).await;
    let told = events(&reply);
    let last = &told[told.len() - 2];
    assert_eq!(last["type"], "response.incomplete");
    assert_eq!(last["response"]["incomplete_details"]["reason"], "max_output_tokens");
}

#[tokio::test]
async fn a_stream_that_breaks_off_fails_without_an_end_mark_and_is_paid_in_part() {
    let app = TestApp::start().await;
    let script = UpstreamScript::word_stream(&["one ", "two ", "three "], None);
    let cut = script.body().len() / 2;
    app.upstream.queue_script(script.break_after(cut));
    let reply = post(&app, &json!({"model": "kimi-k3", "input": "Hi", "stream": true})).await;
    let told = events(&reply);
    let last = told.last().unwrap();
    assert_eq!(last["type"], "response.failed");
    assert_eq!(last["response"]["error"]["code"], "upstream_error");
    assert_eq!(last["response"]["output"][0]["status"], "incomplete");
    let spent = app.verify_spent().await;
    assert!(spent.is_positive(), "{spent}");
}

#[tokio::test]
async fn a_failure_before_the_first_word_has_a_status_and_costs_nothing() {
    for streams in [false, true] {
        let app = TestApp::start().await;
        app.upstream.queue_script(UpstreamScript::json(
            400,
            &json!({"error": {"message": "No such thing"}}),
        ));
        let body = json!({"model": "kimi-k3", "input": "Hi", "stream": streams});
        let reply = post(&app, &body).await;
        assert_eq!(reply.status, 400, "{}", reply.text());
        assert!(reply.text().contains("No such thing"), "{}", reply.text());
        assert_eq!(app.verify_spent().await.to_string(), "0");
    }
}

#[tokio::test]
async fn what_this_service_does_not_do_is_refused_all_at_once() {
    let app = TestApp::start().await;
    let body = json!({
        "model": "kimi-k3",
        "input": "Hi",
        "tools": [{"type": "x_search"}, {"type": "function"}],
        "service_parameters": {"enable_e2ee": true},
    });
    check_faults(
        &post(&app, &body).await,
        expect![[r#"
        ["tools",0,"type"]: "This model does not support X search; leave it out"
        ["service_parameters","enable_e2ee"]: "Responses cannot be encrypted end to end; use /chat/completions"
        ["tools",1,"name"]: "Required""#]],
    );
}

#[tokio::test]
async fn what_the_model_cannot_do_is_refused_at_its_field() {
    let app = TestApp::start().await;
    let image = json!({"type": "input_image", "image_url": {"url": "https://example.com/a.png"}});
    let body = json!({
        "model": "gpt-4o-mini",
        "input": [{"role": "user", "content": [image]}],
        "text": {"format": {"type": "json_object"}},
    });
    check_faults(
        &post(&app, &body).await,
        expect![[r#"
        ["input"]: "This model does not support images"
        ["text","format"]: "This model does not support structured answers""#]],
    );
    let body = json!({"model": "llama-3.3-70b", "input": "Hi", "max_output_tokens": 16385});
    check_faults(
        &post(&app, &body).await,
        expect![[r#"["max_output_tokens"]: "This model answers with at most 16384 tokens""#]],
    );
}

#[tokio::test]
async fn bad_items_are_refused_before_any_work() {
    let app = TestApp::start().await;
    let bad = [
        json!(""),
        json!([]),
        json!([{"role": "nobody", "content": "Hi"}]),
        json!([{"type": "function_call", "name": "w", "arguments": "{}"}]),
        json!([{"type": "reasoning"}]),
        json!([{"role": "user", "content": [{"type": "input_image", "image_url": "file:///etc"}]}]),
        json!([{"role": "assistant", "content": [{"type": "input_image", "image_url": "https://a"}]}]),
        json!(7),
    ];
    for input in bad {
        let reply = post(&app, &json!({"model": "kimi-k3", "input": input})).await;
        assert_eq!(reply.status, 400, "{input}: {}", reply.text());
    }
    assert!(app.upstream.received_bodies().is_empty());
    assert_eq!(app.verify_spent().await.to_string(), "0");
}

#[tokio::test]
async fn a_fallback_answers_when_the_first_model_cannot() {
    let app = TestApp::start().await;
    app.upstream.queue_script(UpstreamScript::json(500, &json!({"error": {"message": "broken"}})));
    let body = json!({"model": "kimi-k3", "input": "Hi", "fallbacks": [{"model": "qwen3:4b"}]});
    let reply = post(&app, &body).await;
    assert_eq!(reply.ok_json()["model"], "qwen3:4b");
    assert_eq!(reply.header("x-service-model-id"), "qwen3:4b");
}

#[tokio::test]
async fn an_account_without_money_is_told_so() {
    let app = TestApp::start().await;
    let poor = app.another_account("poor").await;
    let reply = poor.post(PATH, &json!({"model": "kimi-k3", "input": "Hi"})).await;
    assert_eq!((reply.status, &reply.json()["code"]), (402, &json!("INSUFFICIENT_BALANCE")));
    assert!(app.upstream.received_bodies().is_empty());
}

/// The text of a response's items.
fn said(response: &Value) -> String {
    let text = |item: &Value| {
        let texts = [&item["summary"][0]["text"], &item["content"][0]["text"]];
        let text = texts.into_iter().find_map(Value::as_str).unwrap_or_default();
        format!("{}: {text:?}\n", item["type"].as_str().unwrap())
    };
    response["output"].as_array().unwrap().iter().map(text).collect()
}

#[tokio::test]
async fn thoughts_in_the_text_are_left_out_for_those_who_ask() {
    let app = TestApp::start().await;
    let answer = json!({"content": "<think>hm</think>\n\nYes. <thin", "reasoning": "Aloud."});
    let left_out = "message: \"Yes. <thin\"\n";
    let whole = "reasoning: \"Aloud.\"\nmessage: \"<think>hm</think>\\n\\nYes. <thin\"\n";
    for (options, expected) in [
        (json!({"strip_thinking_response": true}), left_out),
        (json!({"disable_thinking": true}), left_out),
        (json!({"strip_thinking_response": false}), whole),
        (json!({}), whole),
    ] {
        let body = json!({"model": "kimi-k3", "input": "Hi", "service_parameters": options});
        app.upstream.queue_script(message(&answer, "stop"));
        assert_eq!(said(&post(&app, &body).await.ok_json()), expected, "{options}");
        let pieces = ["<thi", "nk>hm</th", "ink>\n\n", "Yes", ". <thin"];
        let mut stream = vec![json!({"role": "assistant", "reasoning": "Aloud."})];
        stream.extend(pieces.map(|piece| json!({"content": piece})));
        app.upstream.queue_script(deltas(&stream, "stop"));
        let body = json!({"model": "kimi-k3", "input": "Hi", "stream": true,
            "service_parameters": options});
        let events = events(&post(&app, &body).await);
        let end = events.iter().find(|event| event["type"] == "response.completed").unwrap();
        assert_eq!(said(&end["response"]), expected, "{options} in a stream");
        let added = |kind: &str| {
            let events = events.iter().filter(|event| event["type"] == kind);
            events.map(|event| event["delta"].as_str().unwrap()).collect::<String>()
        };
        let text = added("response.output_text.delta");
        assert!(expected.ends_with(&format!("message: {text:?}\n")), "{options}: {text}");
    }
}

#[tokio::test]
async fn an_answer_that_is_all_thought_has_no_message() {
    let app = TestApp::start().await;
    let options = json!({"strip_thinking_response": true});
    let body = json!({"model": "kimi-k3", "input": "Hi", "service_parameters": options});
    app.upstream.queue_script(message(&json!({"content": "<think>hm, let me"}), "length"));
    let response = post(&app, &body).await.ok_json();
    assert_eq!((said(&response).as_str(), &response["status"]), ("", &json!("incomplete")));
    let mut body = body;
    body["stream"] = json!(true);
    app.upstream.queue_script(deltas(&[json!({"content": "<think>hm, let me"})], "length"));
    check_events(
        &post(&app, &body).await,
        expect![[r#"
        response.created
        response.in_progress
        response.incomplete
        [DONE]
    "#]],
    );
}

#[tokio::test]
async fn reasoning_is_streamed_as_a_summary_if_one_was_asked_for() {
    let app = TestApp::start().await;
    let script = [
        json!({"role": "assistant", "reasoning_content": "Hm"}),
        json!({"reasoning_content": "."}),
        json!({"content": "Yes."}),
    ];
    app.upstream.queue_script(deltas(&script, "stop"));
    let body = json!({"model": "kimi-k3", "input": "Hi", "stream": true,
        "reasoning": {"summary": "auto"}});
    let reply = post(&app, &body).await;
    check_events(
        &reply,
        expect![[r#"
        response.created
        response.in_progress
        response.output_item.added 0
        response.reasoning_summary_part.added 0
        response.reasoning_summary_text.delta 0 "Hm"
        response.reasoning_summary_text.delta 0 "."
        response.reasoning_summary_text.done 0
        response.reasoning_summary_part.done 0
        response.output_item.done 0
        response.output_item.added 1
        response.content_part.added 1
        response.output_text.delta 1 "Yes."
        response.output_text.done 1
        response.content_part.done 1
        response.output_item.done 1
        response.completed
        [DONE]
    "#]],
    );
    let told = events(&reply);
    let find = |kind: &str| told.iter().find(|event| event["type"] == kind).unwrap();
    let part = |text: &str| json!({"type": "summary_text", "text": text});
    assert_eq!(find("response.reasoning_summary_part.added")["part"], part(""));
    let delta = find("response.reasoning_summary_text.delta");
    assert_eq!((&delta["summary_index"], &delta["delta"]), (&json!(0), &json!("Hm")));
    assert_eq!(find("response.reasoning_summary_text.done")["text"], "Hm.");
    assert_eq!(find("response.reasoning_summary_part.done")["part"], part("Hm."));
    let item = &find("response.output_item.done")["item"];
    assert_eq!((&item["type"], &item["summary"]), (&json!("reasoning"), &json!([part("Hm.")])));
    assert_eq!(delta["item_id"], item["id"]);
}
