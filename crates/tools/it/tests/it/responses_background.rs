//! Tests of background responses: queued with their money, run once, charged once.

use std::sync::Arc;

use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::{TestClient, TestReply};
use testkit::upstream::UpstreamScript;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

const PATH: &str = "/responses";

async fn queue(client: &TestClient, more: &Value) -> Value {
    let mut body = json!({"model": "kimi-k3", "input": "Hi", "background": true});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.post(PATH, &body).await.ok_json()
}

fn path(response: &Value) -> String {
    format!("{PATH}/{}", response["id"].as_str().unwrap())
}

/// The events of a stream, after checking that their numbers go up by one.
#[track_caller]
fn events(reply: &TestReply) -> Vec<Value> {
    assert_eq!(reply.status, 200, "{}", reply.text());
    let text = reply.text();
    let lines = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Value> =
        lines.filter(|it| *it != "[DONE]").map(|it| serde_json::from_str(it).unwrap()).collect();
    for pair in events.windows(2) {
        let number = |event: &Value| event["sequence_number"].as_u64().unwrap();
        assert_eq!(number(&pair[0]) + 1, number(&pair[1]), "{text}");
    }
    events
}

fn words(count: usize) -> UpstreamScript {
    let words: Vec<String> = (0..count).map(|it| format!("word{it} ")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    UpstreamScript::word_stream(&words, None)
}

/// The money that nobody holds.
fn free(app: &TestApp) -> String {
    app.app.ledger.balances(app.owner()).total().to_string()
}

#[tokio::test]
async fn a_background_response_waits_runs_and_is_charged_once() {
    let app = TestApp::start().await;
    let client = app.admin();
    let queued = queue(&client, &json!({"metadata": {"a": "b"}})).await;
    assert_eq!((&queued["status"], &queued["background"]), (&json!("queued"), &json!(true)));
    assert_eq!(queued["output"], json!([]));
    assert_eq!(client.get(&path(&queued)).await.ok_json(), queued);
    assert_ne!(free(&app), "10", "the money is held");
    app.run_responses().await;
    let ended = client.get(&path(&queued)).await.ok_json();
    assert_eq!(ended["status"], "completed", "{ended}");
    assert_eq!(ended["id"], queued["id"]);
    assert_eq!(ended["output"][0]["content"][0]["text"], "Hello there!");
    assert_eq!(ended["usage"]["output_tokens"], 3);
    let spent = app.verify_spent().await;
    let listed = client.get(PATH).await.ok_json();
    let cost = listed["data"][0]["cost"]["usd"].as_f64().unwrap();
    assert!((cost - spent.as_f64()).abs() < 1e-12 && 0.0 < cost);
    app.run_responses().await;
    assert_eq!(app.verify_spent().await, spent);
    assert_eq!(app.upstream.received_bodies().len(), 1);
    let continued =
        json!({"model": "kimi-k3", "input": "More", "previous_response_id": ended["id"]});
    assert_eq!(client.post(PATH, &continued).await.status, 200);
}

#[tokio::test]
async fn what_could_not_be_answered_is_refused_before_it_is_queued() {
    let app = TestApp::start().await;
    let client = app.admin();
    for (more, status) in [
        (json!({"model": "no-such-model"}), 404),
        (json!({"model": "llama-3.3-70b", "max_output_tokens": 16_385}), 400),
        (json!({"tools": [{"type": "file_search"}]}), 400),
    ] {
        let mut body = json!({"model": "kimi-k3", "input": "Hi", "background": true});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let reply = client.post(PATH, &body).await;
        assert_eq!(reply.status, status, "{}", reply.text());
    }
    let poor = app.another_account("poor").await;
    let body = json!({"model": "kimi-k3", "input": "Hi", "background": true});
    assert_eq!(poor.post(PATH, &body).await.status, 402);
    assert_eq!(free(&app), "10");
}

#[tokio::test]
async fn a_stream_is_resumed_after_any_of_its_events() {
    let app = TestApp::start().await;
    let client = app.admin();
    let stop = CancellationToken::new();
    let worker = api::response_worker::run_worker(app.app.clone(), stop.clone());
    let worker = app.app.tasks.spawn(worker);
    let body = json!({"model": "kimi-k3", "input": "Hi", "background": true, "stream": true});
    let whole = client.post(PATH, &body).await;
    let all = events(&whole);
    assert_eq!(all[0]["type"], "response.created");
    assert_eq!(all[1]["type"], "response.queued");
    let last = all.last().unwrap();
    assert_eq!(last["type"], "response.completed");
    assert!(whole.text().ends_with("data: [DONE]\n\n"));
    let path = path(&all[0]["response"]);
    let again = async |after: usize| {
        let path = format!("{path}?stream=true&starting_after={after}");
        events(&client.get(&path).await)
    };
    assert_eq!(events(&client.get(&format!("{path}?stream=true")).await), all);
    for after in 0..all.len() {
        assert_eq!(again(after).await, all[after + 1..], "{after}");
    }
    assert!(again(all.len() + 100).await.is_empty());
    assert_eq!(client.get(&path).await.ok_json(), last["response"]);
    stop.cancel();
    worker.await.unwrap();
}

#[tokio::test]
async fn a_response_that_was_interrupted_runs_again_and_is_charged_once() {
    let app = TestApp::start().await;
    let client = app.admin();
    let pace = Arc::new(Semaphore::new(2));
    app.upstream.queue_script(words(5).with_pace(&pace));
    let body = json!({"model": "kimi-k3", "input": "Hi", "background": true, "stream": true});
    let reply = client.open(PATH, &body).await;
    drop(reply);
    let listed = client.get(PATH).await.ok_json();
    let path = path(&listed["data"][0]);
    let stop = CancellationToken::new();
    api::response_worker::claim_due(&app.app, &stop).await.unwrap();
    app.upstream.wait_for_request().await;
    stop.cancel();
    app.settle_tasks().await;
    assert_eq!(client.get(&path).await.ok_json()["status"], "in_progress");
    app.run_responses().await;
    let all = events(&client.get(&format!("{path}?stream=true")).await);
    let ended = client.get(&path).await.ok_json();
    assert_eq!(ended["status"], "completed");
    assert_eq!(ended["output"][0]["content"][0]["text"], "Hello there!");
    assert_eq!(all.last().unwrap()["response"], ended);
    assert_eq!(app.upstream.received_bodies().len(), 2);
    let listed = client.get(PATH).await.ok_json();
    let cost = listed["data"][0]["cost"]["usd"].as_f64().unwrap();
    assert!((cost - app.verify_spent().await.as_f64()).abs() < 1e-12 && 0.0 < cost);
}

#[tokio::test]
async fn a_cancelled_response_costs_what_it_produced() {
    let app = TestApp::start().await;
    let client = app.admin();
    let queued = queue(&client, &json!({})).await;
    let cancel = format!("{}/cancel", path(&queued));
    let cancelled = client.post(&cancel, &json!({})).await.ok_json();
    assert_eq!(cancelled["status"], "cancelled", "{cancelled}");
    assert_eq!(client.post(&cancel, &json!({})).await.ok_json(), cancelled);
    assert_eq!(free(&app), "10", "it never ran");

    let pace = Arc::new(Semaphore::new(3));
    app.upstream.queue_script(words(50).with_pace(&pace));
    let running = queue(&client, &json!({})).await;
    let stop = CancellationToken::new();
    api::response_worker::claim_due(&app.app, &stop).await.unwrap();
    app.upstream.wait_for_request().await;
    let cancel = format!("{}/cancel", path(&running));
    let cancelled = client.post(&cancel, &json!({})).await.ok_json();
    assert_eq!(cancelled["status"], "cancelled", "{cancelled}");
    app.settle_tasks().await;
    assert_eq!(client.get(&path(&running)).await.ok_json(), cancelled);
    app.verify_spent().await;

    let done = queue(&client, &json!({})).await;
    app.run_responses().await;
    let ended = client.get(&path(&done)).await.ok_json();
    let cancelled = client.post(&format!("{}/cancel", path(&done)), &json!({})).await.ok_json();
    assert_eq!((cancelled["status"].as_str(), &cancelled), (Some("completed"), &ended));
}

#[tokio::test]
async fn a_revoked_key_and_a_deleted_response_end_and_cost_nothing() {
    let app = TestApp::start().await;
    let key = app.create_key(&json!({"apiKeyType": "INFERENCE", "description": "gone"})).await;
    let holder = app.anonymous().with_bearer(key["apiKey"].as_str().unwrap());
    let queued = queue(&holder, &json!({})).await;
    let id = key["id"].as_str().unwrap();
    let body = json!({"id": id});
    app.admin().send_json(axum::http::Method::DELETE, "/api_keys", &body).await.ok_json();
    let deleted = queue(&app.admin(), &json!({})).await;
    app.admin().delete(&path(&deleted)).await.ok_json();
    app.run_responses().await;
    let ended = app.admin().get(&path(&queued)).await.ok_json();
    assert_eq!(
        (&ended["status"], &ended["error"]["code"]),
        (&json!("failed"), &json!("invalid_api_key"))
    );
    assert_eq!(app.admin().get(&path(&deleted)).await.status, 404);
    assert_eq!(app.verify_spent().await.to_string(), "0");
    assert_eq!(free(&app), "10");
    assert!(app.upstream.received_bodies().is_empty());
}

#[tokio::test]
async fn a_response_that_waits_for_too_long_ends() {
    let app = TestApp::start().await;
    let queued = queue(&app.admin(), &json!({})).await;
    app.clock.advance_s(25 * 60 * 60);
    app.run_responses().await;
    let ended = app.admin().get(&path(&queued)).await.ok_json();
    assert_eq!(
        (&ended["status"], &ended["error"]["code"]),
        (&json!("failed"), &json!("server_error"))
    );
    assert_eq!(free(&app), "10");
}

#[tokio::test]
async fn a_background_turn_is_added_to_its_conversation() {
    let app = TestApp::start().await;
    let client = app.admin();
    let conversation = client.post("/conversations", &json!({})).await.ok_json();
    queue(&client, &json!({"conversation": conversation["id"]})).await;
    app.run_responses().await;
    let id = conversation["id"].as_str().unwrap();
    let items = client.get(&format!("/conversations/{id}/items")).await.ok_json();
    assert_eq!(items["data"].as_array().unwrap().len(), 2, "{items}");
}
