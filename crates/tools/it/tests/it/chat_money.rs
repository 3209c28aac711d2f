//! Tests of the cost of chats after every kind of failure, including known bugs of other gateways.

use std::sync::Arc;

use engine::{ChatContent, ChatMessage, ChatRequest, prompt_tokens, text_tokens};
use money::Nano;
use serde_json::{Value, json};
use testkit::app::{SYSTEM_PROMPT, TestApp};
use testkit::stream::join_text;
use testkit::upstream::{UpstreamScript, build_chunk, build_completion};
use tokio::sync::Semaphore;

use crate::chat::{PATH, ask};

/// Prices of `kimi-k3` in nano-dollars per token.
const INPUT: i64 = 1_400;
const OUTPUT: i64 = 4_400;
const CACHE_INPUT: i64 = 260;
const CACHE_WRITE: i64 = 1_750;

const WORDS: [&str; 5] = ["The ", "quick ", "brown ", "fox ", "jumps."];

/// The cost of the prompt of `ask` when it is counted by the service.
fn prompt_cost() -> i64 {
    let text = |text: &str| ChatContent::Text(text.to_owned());
    let messages = vec![
        ChatMessage::System { content: text(SYSTEM_PROMPT), name: None },
        ChatMessage::User { content: text("Say hello"), name: None },
    ];
    let request = ChatRequest { messages, ..ChatRequest::default() };
    i64::try_from(prompt_tokens(&request)).unwrap() * INPUT
}

fn text_cost(text: &str) -> i64 {
    i64::try_from(text_tokens(text)).unwrap() * OUTPUT
}

fn streamed() -> Value {
    ask("kimi-k3", &json!({"stream": true}))
}

/// Plays a script to a streamed and a non-streamed request, and compares the cost of each.
async fn check_cost(usage: Value, expected: i64) {
    let app = TestApp::start().await;
    app.upstream
        .queue_script(UpstreamScript::json(200, &build_completion(&WORDS.concat(), &usage)));
    let answer = app.admin().post(PATH, &ask("kimi-k3", &json!({}))).await.ok_json();
    assert_eq!(app.verify_spent().await.nanos(), expected, "whole");
    assert_eq!(answer["cost"]["usd"], Nano::from_nanos(expected).as_f64());

    app.upstream.queue_script(UpstreamScript::word_stream(&WORDS, Some(usage)));
    let events = app.admin().open(PATH, &streamed()).await.remaining_events().await;
    assert_eq!(app.verify_spent().await.nanos(), 2 * expected, "streamed");
    let last: Value = serde_json::from_str(&events[events.len() - 2]).unwrap();
    assert_eq!(last["cost"]["usd"], Nano::from_nanos(expected).as_f64());
}

#[tokio::test]
async fn tokens_are_billed_as_the_upstream_reports_them() {
    check_cost(json!({"prompt_tokens": 100, "completion_tokens": 10}), 100 * INPUT + 10 * OUTPUT)
        .await;
}

#[tokio::test]
async fn cached_tokens_are_billed_once_and_at_their_own_price() {
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110,
        "prompt_tokens_details": {"cached_tokens": 60, "cache_creation_input_tokens": 30}});
    check_cost(usage, 10 * INPUT + 60 * CACHE_INPUT + 30 * CACHE_WRITE + 10 * OUTPUT).await;
}

#[tokio::test]
async fn reasoning_tokens_are_output_and_counted_once() {
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150,
        "completion_tokens_details": {"reasoning_tokens": 40}});
    check_cost(usage, 100 * INPUT + 50 * OUTPUT).await;
}

#[tokio::test]
async fn a_long_context_has_its_own_price() {
    let usage = json!({"prompt_tokens": 200_001, "completion_tokens": 10});
    check_cost(usage, 200_001 * 2_800 + 10 * 8_800).await;
}

#[tokio::test]
async fn missing_usage_is_counted_here_and_never_zero() {
    let expected = prompt_cost() + text_cost(&WORDS.concat());
    check_cost(Value::Null, expected).await;
    check_cost(json!({}), expected).await;
    check_cost(json!({"prompt_tokens": 0, "completion_tokens": 0}), expected).await;
}

#[tokio::test]
async fn negative_and_absurd_usage_neither_credits_nor_ruins() {
    let expected = prompt_cost() + text_cost(&WORDS.concat());
    check_cost(json!({"prompt_tokens": -1_000_000, "completion_tokens": 5}), expected).await;
    check_cost(json!({"prompt_tokens": 20, "completion_tokens": -9}), expected).await;
    check_cost(json!({"prompt_tokens": 20, "completion_tokens": 90_000_000}), expected).await;
    check_cost(json!({"prompt_tokens": 1e300, "completion_tokens": 5}), expected).await;
}

#[tokio::test]
async fn an_answer_without_output_is_free() {
    let app = TestApp::start().await;
    let usage = json!({"prompt_tokens": 20, "completion_tokens": 0});
    app.upstream.queue_script(UpstreamScript::json(200, &build_completion("", &usage)));
    let answer = app.admin().post(PATH, &ask("kimi-k3", &json!({}))).await.ok_json();
    assert_eq!(answer["cost"]["usd"], 0.0);
    app.upstream.queue_script(UpstreamScript::word_stream(&[], Some(usage)));
    app.admin().open(PATH, &streamed()).await.remaining_events().await;
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn usage_beside_choices_in_the_last_chunk_is_not_lost() {
    let app = TestApp::start().await;
    let mut last = build_chunk(&json!({}), Some("stop"));
    last["usage"] = json!({"prompt_tokens": 9, "completion_tokens": 7});
    let events = [
        build_chunk(&json!({"content": "Hi"}), None).to_string(),
        last.to_string(),
        "[DONE]".to_owned(),
    ];
    app.upstream.queue_script(UpstreamScript::events(events));
    app.admin().open(PATH, &streamed()).await.remaining_events().await;
    assert_eq!(app.verify_spent().await.nanos(), 9 * INPUT + 7 * OUTPUT);
}

#[tokio::test]
async fn a_client_who_hangs_up_after_any_chunk_pays_for_what_was_produced() {
    for heard in 0..=WORDS.len() {
        let app = TestApp::start().await;
        let pace = Arc::new(Semaphore::new(1));
        app.upstream.queue_script(UpstreamScript::word_stream(&WORDS, None).with_pace(&pace));
        let mut reply = app.admin().open(PATH, &streamed()).await;
        pace.add_permits(heard.saturating_sub(1));
        for _ in 0..heard {
            reply.next().await.unwrap();
        }
        drop(reply);
        app.upstream.wait_for_hangup().await;
        // The first chunk is produced before the status is sent.
        let said = WORDS[..heard.max(1)].concat();
        let spent = app.verify_spent().await.nanos();
        let heard_cost = prompt_cost() + text_cost(&said);
        let is_right =
            if heard == 0 { spent == 0 || spent == heard_cost } else { spent == heard_cost };
        assert!(is_right, "{heard} chunks: {spent} instead of {heard_cost}");
    }
}

#[tokio::test]
async fn a_client_who_hangs_up_before_anything_came_pays_nothing() {
    let app = TestApp::start().await;
    let pace = Arc::new(Semaphore::new(0));
    app.upstream.queue_script(UpstreamScript::word_stream(&WORDS, None).with_pace(&pace));
    let client = app.admin();
    let body = streamed();
    tokio::select! {
        _ = client.open(PATH, &body) => panic!("nothing was sent"),
        () = app.upstream.wait_for_request() => {}
    }
    app.upstream.wait_for_hangup().await;
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn a_whole_answer_that_nobody_waits_for_is_paid_in_full() {
    let app = TestApp::start().await;
    let pace = Arc::new(Semaphore::new(0));
    app.upstream.queue_script(UpstreamScript::hello().with_pace(&pace));
    let client = app.admin();
    let body = ask("kimi-k3", &json!({}));
    tokio::select! {
        _ = client.post(PATH, &body) => panic!("nothing was sent"),
        () = app.upstream.wait_for_request() => {}
    }
    pace.add_permits(1);
    assert_eq!(app.verify_spent().await.nanos(), 20 * INPUT + 3 * OUTPUT);
}

#[tokio::test]
async fn a_provider_that_bills_on_is_read_to_its_usage_after_a_hangup() {
    let bills_on =
        |toml: &str| toml.replace("id = \"main\"", "id = \"main\"\nbills_after_hangup = true");
    let app = TestApp::with_changed_fixture(bills_on).await;
    let pace = Arc::new(Semaphore::new(1));
    let usage = json!({"prompt_tokens": 33, "completion_tokens": 44});
    app.upstream.queue_script(UpstreamScript::word_stream(&WORDS, Some(usage)).with_pace(&pace));
    let mut reply = app.admin().open(PATH, &streamed()).await;
    reply.next().await.unwrap();
    drop(reply);
    pace.add_permits(100);
    assert_eq!(app.verify_spent().await.nanos(), 33 * INPUT + 44 * OUTPUT);
}

#[tokio::test]
async fn an_upstream_cut_at_any_byte_is_billed_for_what_it_produced() {
    let app = TestApp::start().await;
    let usage = json!({"prompt_tokens": 20, "completion_tokens": 6});
    let script = UpstreamScript::word_stream(&["Hi ", "you."], Some(usage));
    let body = script.body();
    let mut before = 0;
    for cut in 1..=body.len() {
        app.upstream.queue_script(script.clone().break_after(cut));
        let events = app.admin().open(PATH, &streamed()).await.remaining_events().await;
        let spent = app.verify_spent().await.nanos();
        assert_eq!(spent - before, recount(&body[..cut]), "cut after {cut} bytes");
        let is_done = events.last().is_some_and(|it| it == "[DONE]");
        let has_ended = body[..cut].windows(6).any(|it| it == b"\"stop\"");
        assert!(has_ended || !is_done, "cut after {cut} bytes: {events:?}");
        assert!(is_done || cut < body.len(), "{events:?}");
        before = spent;
        // Resets the circuit breaker and the limits.
        app.clock.advance_s(300);
    }
}

/// The cost of a truncated stream by the events that arrived complete: from the reported usage, or
/// else from our own count of its words.
fn recount(body: &[u8]) -> i64 {
    let text = String::from_utf8_lossy(body);
    let read = |data: &str| serde_json::from_str::<Value>(data).ok();
    let data = |event: &str| {
        let line = event.strip_prefix("data")?;
        Some(line.trim_start_matches(':').trim().to_owned())
    };
    let events: Vec<String> = text.split("\n\n").filter_map(data).collect();
    let chunks: Vec<Value> = events.iter().filter_map(|data| read(data)).collect();
    let usage = chunks.iter().find_map(|chunk| chunk.get("usage"));
    if let Some(usage) = usage {
        let tokens = |name: &str| usage[name].as_i64().unwrap();
        return tokens("prompt_tokens") * INPUT + tokens("completion_tokens") * OUTPUT;
    }
    let texts = chunks.iter().filter_map(|it| it["choices"][0]["delta"]["content"].as_str());
    let said: String = texts.collect();
    if said.is_empty() { 0 } else { prompt_cost() + text_cost(&said) }
}

#[tokio::test]
async fn the_charge_is_durable_before_the_last_chunk_is_sent() {
    let app = TestApp::start().await;
    let mut reply = app.admin().open(PATH, &streamed()).await;
    while let Some(event) = reply.next().await {
        if event.contains(r#""finish_reason":"stop""#) {
            let report = ledger::verify_books(app.app.store.as_ref()).await.unwrap();
            assert_eq!(app.app.ledger.status().settled_total, 1);
            assert_eq!(report.transfers, 2, "the credit and the charge are in the journal");
        }
    }
    drop(reply);
    assert_eq!(app.verify_spent().await.nanos(), 20 * INPUT + 3 * OUTPUT);
}

#[tokio::test]
async fn retries_and_fallbacks_are_one_charge_for_what_was_delivered() {
    let app = TestApp::start().await;
    app.upstream.queue_script(UpstreamScript::json(500, &json!({"error": "broken"})));
    let body = ask("qwen3:4b", &json!({"fallbacks": [{"model": "kimi-k3"}]}));
    app.admin().post(PATH, &body).await.ok_json();
    assert_eq!(app.verify_spent().await.nanos(), 20 * INPUT + 3 * OUTPUT);
    assert_eq!(app.app.ledger.status().settled_total, 1);
    let usage = app.admin().get("/billing/usage").await.ok_json();
    let skus: Vec<&str> =
        usage["data"].as_array().unwrap().iter().map(|row| row["sku"].as_str().unwrap()).collect();
    assert_eq!(skus, ["kimi-k3-llm-output-mtoken", "kimi-k3-llm-input-mtoken"]);
}

#[tokio::test]
async fn holds_return_after_every_kind_of_failure() {
    let app = TestApp::start().await;
    for script in [
        UpstreamScript::json(500, &json!({"error": "broken"})),
        UpstreamScript::json(400, &json!({"error": "no"})),
        UpstreamScript::json(200, &json!({"choices": "nonsense"})),
        UpstreamScript::raw(b"data: {\"choices\": 5}\n\n".to_vec()),
        UpstreamScript::raw(vec![0xff; 64]),
        UpstreamScript::raw(Vec::new()),
        UpstreamScript::hello().header("content-encoding", "gzip"),
    ] {
        for is_streamed in [false, true] {
            app.upstream.queue_script(script.clone());
            let body = ask("kimi-k3", &json!({"stream": is_streamed}));
            let reply = app.admin().post(PATH, &body).await;
            assert_ne!(reply.status, 200, "{script:?}: {}", reply.text());
            assert_eq!(app.verify_spent().await.nanos(), 0);
            app.clock.advance_s(300);
        }
    }
}

#[tokio::test]
async fn parallel_requests_never_spend_more_than_there_is() {
    const PAID_FOR: usize = 40;
    const CALLS: usize = 400;
    let app = TestApp::start().await;
    let body = ask("qwen3:4b", &json!({"max_completion_tokens": 1000}));
    let poor = app.another_account("poor").await;
    let refused = poor.post(PATH, &body).await;
    assert_eq!(refused.json()["code"], "INSUFFICIENT_BALANCE");
    let told = refused.json()["error"].as_str().unwrap().to_owned();
    let needed = told.split("Up to $").nth(1).unwrap().split(' ').next().unwrap();
    let hold = Nano::parse(needed).unwrap().nanos();
    let funds = Nano::from_nanos(hold * i64::try_from(PAID_FOR).unwrap() + hold / 2);
    let (owner, client) = app.funded_account("crowd", &funds.to_string()).await;

    let pace = Arc::new(Semaphore::new(0));
    for _ in 0..PAID_FOR {
        app.upstream.queue_script(UpstreamScript::hello().with_pace(&pace));
    }
    // The rest of an ended answer's hold would pay for others, so none ends before all are refused.
    let ended = Semaphore::new(0);
    let call = async || {
        let reply = client.post(PATH, &body).await;
        ended.add_permits(1);
        reply
    };
    let calls: Vec<_> = (0..CALLS).map(|_| call()).collect();
    let releasing = async {
        for _ in 0..PAID_FOR {
            app.upstream.wait_for_request().await;
        }
        let refused = u32::try_from(CALLS - PAID_FOR).unwrap();
        ended.acquire_many(refused).await.unwrap().forget();
        pace.add_permits(PAID_FOR);
    };
    let (replies, ()) = tokio::join!(futures_util::future::join_all(calls), releasing);
    let paid = replies.iter().filter(|reply| reply.status == 200).count();
    let refused = replies.iter().filter(|reply| matches!(reply.status, 402 | 429)).count();
    assert_eq!((paid, refused), (PAID_FOR, CALLS - PAID_FOR));
    app.verify_spent().await;
    let left = app.app.ledger.balances(owner).usd;
    let cost = i64::try_from(PAID_FOR).unwrap() * (20 * 50 + 3 * 150);
    assert_eq!(left.nanos(), funds.nanos() - cost);
}

#[tokio::test]
async fn an_answer_ends_when_the_money_does() {
    let app = TestApp::start().await;
    let (owner, client) = app.funded_account("small", "0.0005").await;
    // The upstream ignores the limit and reports no usage.
    let words: Vec<&str> = std::iter::repeat_n("word ", 2000).collect();
    app.upstream.queue_script(UpstreamScript::word_stream(&words, None));
    let mut reply = client.open(PATH, &streamed()).await;
    let events = reply.remaining_events().await;
    let asked = app.upstream.received_bodies()[0]["max_tokens"].as_u64().unwrap();
    assert!(0 < asked && asked < 120, "what the money buys: {asked}");
    assert!(join_text(&events).len() < 1500, "it went on for {}", join_text(&events).len());
    assert_eq!(events.last().unwrap(), "[DONE]");
    let last: Value = serde_json::from_str(&events[events.len() - 2]).unwrap();
    assert_eq!(last["choices"][0]["finish_reason"], "length");
    app.verify_spent().await;
    let left = app.app.ledger.balances(owner).usd.nanos();
    assert!((0..60_000).contains(&left), "{left} is left");
    assert_eq!(app.app.ledger.status().written_off_nano_total, 0);
}

#[tokio::test]
async fn usage_beyond_what_is_there_is_written_off_and_never_owed() {
    let app = TestApp::start().await;
    let (owner, client) = app.funded_account("small", "0.0005").await;
    let usage = json!({"prompt_tokens": 1000, "completion_tokens": 2});
    app.upstream.queue_script(UpstreamScript::json(200, &build_completion("Hi", &usage)));
    client.post(PATH, &ask("kimi-k3", &json!({}))).await.ok_json();
    app.verify_spent().await;
    assert_eq!(app.app.ledger.balances(owner).usd, Nano::ZERO);
    let cost = 1000 * INPUT + 2 * OUTPUT;
    assert_eq!(app.app.ledger.status().written_off_nano_total, cost - 500_000);
}

#[tokio::test]
async fn a_key_with_a_limit_stops_at_it() {
    let app = TestApp::start().await;
    let key = app
        .create_key(&json!({"apiKeyType": "INFERENCE", "description": "limited",
            "consumptionLimit": {"usd": 0.000001}}))
        .await;
    let client = app.anonymous().with_bearer(key["apiKey"].as_str().unwrap());
    let refused = client.post(PATH, &ask("kimi-k3", &json!({"max_tokens": 100}))).await;
    assert_eq!(refused.status, 402);
    let body = refused.json();
    assert_eq!(body["code"], "API_KEY_USD_SPEND_LIMIT_EXCEEDED");
    assert_eq!(body["limitPeriod"], "EPOCH");
    assert!(body["resetsAt"].is_string());
    assert_eq!(app.upstream.received_bodies().len(), 0);
}

#[tokio::test]
async fn tokens_a_minute_are_reserved_and_then_corrected() {
    let app = TestApp::start().await;
    let body = ask("kimi-k3", &json!({"max_tokens": 1000}));
    let first = app.admin().post(PATH, &body).await;
    let left: u64 = first.header("x-ratelimit-remaining-tokens").parse().unwrap();
    let reserved = 750_000 - left;
    assert!(1000 < reserved && reserved < 1050, "{reserved}");
    let second = app.admin().post(PATH, &body).await;
    let left: u64 = second.header("x-ratelimit-remaining-tokens").parse().unwrap();
    assert_eq!(left, 750_000 - 23 - reserved, "the first used 23");
}

/// Plays a usage report to a request that allows 5 tokens, streamed and non-streamed.
async fn check_bounded_cost(usage: Value, expected: i64) {
    let app = TestApp::start().await;
    let bounded = |extra: Value| {
        let mut body = ask("kimi-k3", &extra);
        body["max_tokens"] = json!(5);
        body
    };
    app.upstream
        .queue_script(UpstreamScript::json(200, &build_completion(&WORDS.concat(), &usage)));
    app.admin().post(PATH, &bounded(json!({}))).await.ok_json();
    assert_eq!(app.verify_spent().await.nanos(), expected, "whole");
    app.upstream.queue_script(UpstreamScript::word_stream(&WORDS, Some(usage)));
    app.admin().open(PATH, &bounded(json!({"stream": true}))).await.remaining_events().await;
    assert_eq!(app.verify_spent().await.nanos(), 2 * expected, "streamed");
}

#[tokio::test]
async fn no_more_is_billed_than_was_asked_for_or_delivered() {
    let delivered = text_cost(&WORDS.concat()).max(5 * OUTPUT);
    let usage = json!({"prompt_tokens": 20, "completion_tokens": 30_000});
    check_bounded_cost(usage, 20 * INPUT + delivered).await;
}

#[tokio::test]
async fn zero_tokens_for_a_delivered_text_are_counted_here() {
    let usage = json!({"prompt_tokens": 20, "completion_tokens": 0});
    check_cost(usage, 20 * INPUT + text_cost(&WORDS.concat())).await;
}
