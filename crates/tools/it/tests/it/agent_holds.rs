//! Tests of the money of answers without a bound of the caller's own: held in part, topped up.

use std::sync::Arc;

use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::upstream::UpstreamScript;
use tokio::sync::Semaphore;

/// Prices of `kimi-k3` in nano-dollars a token.
const INPUT: i64 = 1_400;
const OUTPUT: i64 = 4_400;
/// The output limit of `kimi-k3`, in tokens: 8.8 million nano-dollars.
const ANSWER_MAX: u32 = 2_000;
const PATH: &str = "/responses";

async fn start() -> TestApp {
    let bounded = format!("context_tokens = 262144\nmax_completion_tokens = {ANSWER_MAX}");
    TestApp::with_changed_fixture(|fixture| fixture.replace("context_tokens = 262144", &bounded))
        .await
}

fn body(streams: bool) -> Value {
    json!({"model": "kimi-k3", "input": "Say hello", "stream": streams})
}

/// A stream of as many words, each of one token.
fn words(count: usize, usage: Option<Value>) -> UpstreamScript {
    UpstreamScript::word_stream(&vec!["word "; count], usage)
}

fn usd_nanos(app: &TestApp, owner: ledger_core::OwnerId) -> i64 {
    app.app.ledger.balances(owner).usd.nanos()
}

#[tokio::test]
async fn a_stream_holds_a_quarter_so_that_others_of_the_account_can_work() {
    let app = start().await;
    let (owner, client) = app.funded_account("agents", "0.02").await;
    let mut streams = Vec::new();
    let mut paces = Vec::new();
    for number in 1..=4 {
        let pace = Arc::new(Semaphore::new(1));
        let usage = json!({"prompt_tokens": 20, "completion_tokens": 5});
        app.upstream.queue_script(words(5, Some(usage)).with_pace(&pace));
        let before = usd_nanos(&app, owner);
        streams.push(client.open(PATH, &body(true)).await);
        let held = before - usd_nanos(&app, owner);
        assert_eq!(held, before / 4, "stream {number}");
        paces.push(pace);
    }
    for pace in paces {
        pace.add_permits(1_000);
    }
    for mut stream in streams {
        let events = stream.remaining_events().await.join("\n");
        assert!(events.contains("response.completed"), "{events}");
    }
    app.settle_tasks().await;
    assert_eq!(usd_nanos(&app, owner), 20_000_000 - 4 * (20 * INPUT + 5 * OUTPUT));
}

#[tokio::test]
async fn a_long_answer_is_topped_up_while_it_is_streamed() {
    let app = start().await;
    let (owner, client) = app.funded_account("long", "0.02").await;
    let usage = json!({"prompt_tokens": 20, "completion_tokens": 1_900});
    app.upstream.queue_script(words(1_900, Some(usage)));
    let events = client.open(PATH, &body(true)).await.remaining_events().await.join("\n");
    assert!(events.contains("response.completed"), "{events}");
    app.settle_tasks().await;
    let cost = 20 * INPUT + 1_900 * OUTPUT;
    assert_eq!(usd_nanos(&app, owner), 20_000_000 - cost);
    assert!(20_000_000 / 4 < cost, "more than was held at first");
}

#[tokio::test]
async fn an_answer_that_uses_up_the_balance_fails_and_what_came_is_charged() {
    let app = start().await;
    let (owner, client) = app.funded_account("small", "0.002").await;
    app.upstream.queue_script(words(1_900, None));
    let events = client.open(PATH, &body(true)).await.remaining_events().await;
    let all = events.join("\n");
    assert!(all.contains("response.failed") && all.contains("insufficient_quota"), "{all}");
    assert!(!all.contains("response.incomplete") && !all.contains("response.completed"));
    app.settle_tasks().await;
    let left = usd_nanos(&app, owner);
    assert!((0..200_000).contains(&left), "{left}");
    let refused = client.post(PATH, &body(true)).await;
    assert_eq!(refused.status, 402, "{}", refused.text());
}

#[tokio::test]
async fn a_whole_answer_holds_all_it_may_cost_or_is_bounded_by_the_money() {
    let app = start().await;
    for (name, usd, expected) in [("rich", "0.02", 2_000..2_001), ("poor", "0.0005", 1..120)] {
        let (_, client) = app.funded_account(name, usd).await;
        client.post(PATH, &body(false)).await.ok_json();
        let sent = app.upstream.received_bodies().last().unwrap()["max_tokens"].as_i64().unwrap();
        assert!(expected.contains(&sent), "{name}: {sent}");
    }
}

#[tokio::test]
async fn a_bound_of_the_caller_is_held_in_full() {
    let app = start().await;
    let (_, client) = app.funded_account("bound", "0.005").await;
    let mut asked = body(true);
    asked["max_output_tokens"] = json!(ANSWER_MAX);
    assert_eq!(client.post(PATH, &asked).await.status, 402);
}

/// A service whose `kimi-k3` is behind Anthropic's protocol.
async fn start_anthropic() -> TestApp {
    TestApp::with_changed_fixture(|fixture| {
        let url = "base_url = \"http://127.0.0.1:1/v1\"";
        let changed = fixture
            .replace("\"Kimi K3\"\nprovider = \"main\"", "\"Kimi K3\"\nprovider = \"other\"");
        format!("[[provider]]\nid = \"other\"\nkind = \"anthropic\"\n{url}\n{changed}")
    })
    .await
}

const START: &str = r#"{"type":"message_start","message":{"id":"m1","usage":{"input_tokens":90,"output_tokens":1}}}"#;
const BLOCK: &str =
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
const TEXT: &str =
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}"#;

#[tokio::test]
async fn a_stream_that_breaks_is_billed_for_what_was_delivered_and_not_before_that() {
    let app = start_anthropic().await;
    let overloaded = r#"{"type":"error","error":{"type":"overloaded_error","message":"Busy"}}"#;
    for events in [vec![START], vec![START, BLOCK], vec![START, overloaded]] {
        app.upstream.queue_script(UpstreamScript::events(events));
        let all = app.admin().open(PATH, &body(true)).await.remaining_events().await.join("\n");
        assert!(!all.contains("response.completed"), "{all}");
        assert_eq!(app.verify_spent().await.nanos(), 0, "{all}");
    }
    app.upstream.queue_script(UpstreamScript::events([START, BLOCK, TEXT]));
    app.admin().open(PATH, &body(true)).await.remaining_events().await;
    let delivered = i64::try_from(engine::text_tokens("Hi")).unwrap().max(1);
    assert_eq!(app.verify_spent().await.nanos(), 90 * INPUT + delivered * OUTPUT);
}
