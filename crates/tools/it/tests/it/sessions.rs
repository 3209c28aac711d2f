//! Tests of sessions: one route for each, their id in usage rows, and their cost.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::{TestClient, TestReply};
use testkit::upstream::{UpstreamScript, build_completion};

use crate::chat::{PATH, ask};
use crate::{completions, images};

/// The model with two routes.
const MODEL: &str = "llama-3.3-70b";
const ROUTER: &str = "x-service-model-router";

/// A service whose two text providers both answer.
async fn start() -> TestApp {
    TestApp::with_changed_fixture(|toml| {
        toml.replace("http://127.0.0.1:2/v1", "http://127.0.0.1:1/v1")
    })
    .await
}

async fn list_rows(client: &TestClient) -> Vec<Value> {
    let page = client.get("/billing/usage?sortOrder=asc").await.ok_json();
    page["data"].as_array().unwrap().clone()
}

/// The session of the newest row.
async fn last_session(client: &TestClient) -> Value {
    list_rows(client).await.last().unwrap()["sessionId"].clone()
}

async fn list_sessions(client: &TestClient) -> Vec<Value> {
    let path = "/billing/usage-analytics?lookback=2d&groupBy=session";
    client.get(path).await.ok_json()["bySession"].as_array().unwrap().clone()
}

fn served_by(reply: &TestReply) -> String {
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.header(ROUTER).to_owned()
}

#[tokio::test]
async fn requests_of_a_session_meet_one_route_on_every_endpoint_and_sessions_spread() {
    let app = start().await;
    let mut providers = BTreeSet::new();
    for session in 0..10 {
        let client = app.admin().with("session-id", &format!("thread-{session}"));
        let chat = ask(MODEL, &json!({}));
        let keyed = ask(MODEL, &json!({"prompt_cache_key": format!("thread-{session}")}));
        let text = json!({"model": MODEL, "prompt": "Say hello"});
        let response = json!({"model": MODEL, "input": "Say hello"});
        let mut replies = vec![
            client.post(PATH, &chat).await,
            client.post(PATH, &chat).await,
            app.admin().post(PATH, &keyed).await,
            client.post("/responses", &response).await,
        ];
        let usage = json!({"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7});
        app.upstream.queue_script(completions::text("hello", &usage));
        replies.push(client.post("/completions", &text).await);
        let of_session: BTreeSet<String> = replies.iter().map(served_by).collect();
        assert_eq!(of_session.len(), 1, "{of_session:?}");
        providers.extend(of_session);
        app.clock.advance_s(61);
    }
    assert_eq!(providers, BTreeSet::from(["main".to_owned(), "spare".to_owned()]));
}

#[tokio::test]
async fn usage_rows_have_the_session_of_their_request() {
    let app = TestApp::start().await;
    let chat = ask("kimi-k3", &json!({}));
    app.admin().post(PATH, &chat).await.ok_json();
    assert_eq!(last_session(&app.admin()).await, Value::Null);
    let client = app.admin().with("x-service-session", "own");
    client.post(PATH, &chat).await.ok_json();
    let of_header = last_session(&app.admin()).await;
    let digits = of_header.as_str().unwrap();
    assert!(digits.len() == 16 && digits.bytes().all(|it| it.is_ascii_hexdigit()), "{digits}");
    // The key in the body counts before the service's own header, and after those of agents.
    client.post(PATH, &ask("kimi-k3", &json!({"prompt_cache_key": "thread"}))).await.ok_json();
    let of_body = last_session(&app.admin()).await;
    assert_ne!(of_body, of_header);
    let agent = client.with("x-claude-code-session-id", "thread");
    let keyed = ask("kimi-k3", &json!({"prompt_cache_key": "k", "stream": true}));
    agent.open(PATH, &keyed).await.remaining_events().await;
    assert_eq!(last_session(&app.admin()).await, of_body);
    let (_, other) = app.funded_account("other", "5").await;
    other.with("session-id", "thread").post(PATH, &chat).await.ok_json();
    let of_other = last_session(&other).await;
    assert!(of_other.is_string() && of_other != of_body, "{of_other}");
}

#[tokio::test]
async fn other_paid_work_has_the_session_of_its_header() {
    let app = TestApp::start().await;
    let client = app.admin().with("session-id", "pictures");
    app.upstream.queue_script(images::made(1024, 1024));
    let picture = json!({"model": "z-image-turbo", "prompt": "a boat"});
    let reply = client.post(images::PATH, &picture).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let of_picture = last_session(&app.admin()).await;
    assert!(of_picture.is_string());
    client.post("/video/queue", &crate::video_queue::clip()).await.ok_json();
    app.run_jobs().await;
    let rows = list_rows(&app.admin()).await;
    assert!(rows.last().unwrap()["sku"].as_str().unwrap().contains("video"), "{rows:?}");
    assert_eq!(rows.last().unwrap()["sessionId"], of_picture);
}

#[tokio::test]
async fn a_key_of_any_length_is_a_session() {
    let app = TestApp::start().await;
    let chat = ask("kimi-k3", &json!({}));
    for key in ["x".repeat(5_000), "a b\tc".to_owned()] {
        let reply = app.admin().with("session-id", &key).post(PATH, &chat).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
    }
}

#[tokio::test]
async fn analytics_sum_the_cost_of_sessions() {
    let app = TestApp::start().await;
    let usage = json!({
        "prompt_tokens": 100, "completion_tokens": 10,
        "prompt_tokens_details": {"cached_tokens": 40},
    });
    let chat = ask("kimi-k3", &json!({}));
    let client = app.admin().with("session-id", "dear");
    for _ in 0..2 {
        app.upstream.queue_script(UpstreamScript::json(200, &build_completion("Hi", &usage)));
        client.post(PATH, &chat).await.ok_json();
        app.clock.advance_s(90_000);
    }
    app.admin().with("session-id", "cheap").post(PATH, &chat).await.ok_json();
    app.admin().post(PATH, &chat).await.ok_json();
    let path = "/billing/usage-analytics?lookback=3d";
    let grouped = app.admin().get(&format!("{path}&groupBy=session")).await.ok_json();
    let sessions = grouped["bySession"].as_array().unwrap();
    assert_eq!(sessions.len(), 2, "{grouped}");
    let rows = list_rows(&app.admin()).await;
    assert_eq!(sessions[0]["sessionId"], rows[0]["sessionId"]);
    // 60 tokens of input, 40 of the cache and 10 of output, twice.
    let cost = 2.0 * (60.0 * 1.4 + 40.0 * 0.26 + 10.0 * 4.4) / 1e6;
    assert!((sessions[0]["totalUsd"].as_f64().unwrap() - cost).abs() < 1e-12, "{grouped}");
    let expected = json!({
        "sessionId": rows[0]["sessionId"], "totalUsd": sessions[0]["totalUsd"], "totalDiem": 0.0,
        "totalUnits": 220.0, "requests": 2, "inputTokens": 200, "cachedTokens": 80,
        "outputTokens": 20, "firstAt": "2026-11-15T12:00:00.000Z",
        "lastAt": "2026-11-16T13:00:00.000Z",
    });
    assert_eq!(sessions[0], expected);
    assert_eq!(sessions[1]["requests"], 1);
    let plain = app.admin().get(path).await.ok_json();
    assert_eq!(plain.get("bySession"), None);
    assert_eq!(app.admin().get(&format!("{path}&groupBy=colour")).await.status, 400);
    let (_, other) = app.funded_account("other", "5").await;
    assert_eq!(list_sessions(&other).await, Vec::<Value>::new());
    app.verify_spent().await;
}

#[tokio::test]
async fn the_csv_has_the_session() {
    let app = TestApp::start().await;
    let client = app.admin().with("x-session-affinity", "thread");
    client.post(PATH, &ask("kimi-k3", &json!({}))).await.ok_json();
    let session = last_session(&app.admin()).await;
    let reply = app.admin().with("accept", "text/csv").get("/billing/usage").await;
    let text = reply.text();
    let mut lines = text.lines();
    assert!(lines.next().unwrap().ends_with(",sessionId"), "{text}");
    assert!(lines.next().unwrap().ends_with(session.as_str().unwrap()), "{text}");
}
