//! Tests with malicious upstreams: the response always ends within limits and is billed for its
//! content.

use engine::text_tokens;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::stream::join_text;
use testkit::upstream::{UpstreamScript, build_chunk, build_completion};

use crate::chat::{PATH, ask};

/// Prices of `kimi-k3` in nano-dollars per token.
const INPUT: i64 = 1_400;
const OUTPUT: i64 = 4_400;
const MEBIBYTE: usize = 1024 * 1024;

fn event(value: &Value) -> Vec<u8> {
    format!("data: {value}\n\n").into_bytes()
}

/// A word, followed by these bytes.
fn word_and(bytes: &[u8]) -> UpstreamScript {
    let mut body = event(&build_chunk(&json!({"content": "Hello"}), None));
    body.extend_from_slice(bytes);
    UpstreamScript::raw(body)
}

/// Checks that the stream ends with an error and without `[DONE]`, and that the word before it is
/// charged.
async fn check_breaks(bytes: &[u8]) {
    let app = TestApp::start().await;
    app.upstream.queue_script(word_and(bytes));
    let events = app
        .admin()
        .open(PATH, &ask("kimi-k3", &json!({"stream": true})))
        .await
        .remaining_events()
        .await;
    assert_eq!(join_text(&events[..events.len() - 1]), "Hello");
    let last: Value = serde_json::from_str(events.last().unwrap()).unwrap();
    assert_eq!(last["error"]["code"], "upstream_error", "{last}");
    let words = i64::try_from(text_tokens("Hello")).unwrap() * OUTPUT;
    let spent = app.verify_spent().await.nanos();
    assert!(words < spent && spent < words + 100 * INPUT, "the word and the prompt: {spent}");
}

#[tokio::test]
async fn an_event_that_is_too_large_breaks_the_answer() {
    let large = build_chunk(&json!({"content": "a".repeat(9 * MEBIBYTE)}), None);
    check_breaks(&event(&large)).await;
}

#[tokio::test]
async fn a_line_that_never_ends_breaks_the_answer() {
    let mut bytes = b"data: ".to_vec();
    bytes.resize(9 * MEBIBYTE, b'a');
    check_breaks(&bytes).await;
}

#[tokio::test]
async fn bytes_that_are_no_text_break_the_answer() {
    check_breaks(b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xff\xfe\"}}]}\n\n")
        .await;
    check_breaks(b"data: \0\0\0\n\n").await;
}

#[tokio::test]
async fn a_choice_nobody_asked_for_breaks_the_answer() {
    check_breaks(b"data: {\"choices\":[{\"index\":4000000000,\"delta\":{\"content\":\"a\"}}]}\n\n")
        .await;
    check_breaks(b"data: {\"choices\":[{\"index\":-1,\"delta\":{\"content\":\"a\"}}]}\n\n").await;
}

#[tokio::test]
async fn a_chunk_far_beyond_the_bound_is_cut_and_billed_up_to_it() {
    let app = TestApp::start().await;
    let flood = build_chunk(&json!({"content": "word ".repeat(MEBIBYTE)}), None);
    app.upstream.queue_script(word_and(&event(&flood)));
    let body = ask("kimi-k3", &json!({"stream": true, "max_tokens": 10}));
    let events = app.admin().open(PATH, &body).await.remaining_events().await;
    assert_eq!(join_text(&events), "Hello", "what nobody pays for is not delivered");
    assert_eq!(events.last().unwrap(), "[DONE]");
    let last: Value = serde_json::from_str(&events[events.len() - 2]).unwrap();
    assert_eq!(last["choices"][0]["finish_reason"], "length");
    let spent = app.verify_spent().await.nanos();
    assert!(spent < 10 * OUTPUT + 100 * INPUT, "ten tokens and the prompt: {spent}");
}

#[tokio::test]
async fn a_compressed_answer_is_not_unpacked_and_costs_nothing() {
    let app = TestApp::start().await;
    for stream in [false, true] {
        let usage = json!({"prompt_tokens": 1, "completion_tokens": 1});
        let script = UpstreamScript::json(200, &build_completion("Hi", &usage));
        app.upstream.queue_script(script.header("content-encoding", "gzip"));
        let reply = app.admin().post(PATH, &ask("kimi-k3", &json!({"stream": stream}))).await;
        assert_eq!(reply.status, 500, "{}", reply.text());
        app.clock.advance_s(120);
    }
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn a_whole_answer_that_is_no_answer_costs_nothing() {
    let app = TestApp::start().await;
    let bodies: [&[u8]; 5] = [
        b"",
        b"null",
        b"{\"choices\":[]}",
        b"\xff\xfe",
        b"{\"choices\":[{\"message\":{\"content\":1}}]}",
    ];
    for body in bodies {
        app.upstream.queue_script(UpstreamScript::raw(body.to_vec()));
        let reply = app.admin().post(PATH, &ask("kimi-k3", &json!({}))).await;
        assert_eq!(reply.status, 500, "{}", reply.text());
        assert_eq!(reply.json()["error"], "Inference processing failed");
        app.clock.advance_s(120);
    }
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn a_providers_words_tell_neither_addresses_nor_the_operators_prompt() {
    let app = TestApp::start().await;
    let refuse = |message: &str| UpstreamScript::json(400, &json!({"error": {"message": message}}));
    let told = async |stream: bool| {
        let body = ask("kimi-k3", &json!({"stream": stream}));
        let reply = app.admin().post(PATH, &body).await;
        assert_eq!(reply.status, 400, "{}", reply.text());
        reply.text()
    };
    for stream in [false, true] {
        app.upstream.queue_script(refuse(
            "no such tokenizer at http://10.0.0.5:8000/v1 (see gpu-1.internal)",
        ));
        let text = told(stream).await;
        assert!(text.contains("no such tokenizer at"), "{text}");
        assert!(!text.contains("10.0.0.5") && !text.contains("internal"), "{text}");
        let echo = format!("messages.0.content: got '{}'", testkit::app::SYSTEM_PROMPT);
        app.upstream.queue_script(refuse(&echo));
        let text = told(stream).await;
        assert!(!text.contains("brief"), "{text}");
        assert!(text.contains("The model's provider rejected the request."), "{text}");
        app.upstream.queue_script(refuse("temperature must be at most 2"));
        assert!(told(stream).await.contains("temperature must be at most 2"));
    }
    assert_eq!(app.verify_spent().await.nanos(), 0);
}
