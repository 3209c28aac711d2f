//! Tests of `/batches`: every line has one result and one charge at the reduced price, and faults of
//! the file are told with their lines.

use std::time::Duration;

use money::Nano;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::TestClient;
use testkit::upstream::UpstreamScript;
use tokio::time::timeout;

use crate::chat::ask;
use crate::embeddings::embedder::{Embedder, embed_with};
use crate::files::{upload, upload_id};

const CHAT: &str = "/v1/chat/completions";
/// Price of the stub's short answer in nano-dollars at half price: 20 and 3 tokens of `kimi-k3`.
const HALF_HELLO: i64 = (20 * 1_400 + 3 * 4_400) / 2;

fn line(custom_id: &str, url: &str, body: &Value) -> String {
    json!({"custom_id": custom_id, "method": "POST", "url": url, "body": body}).to_string()
}

fn chat_line(custom_id: &str) -> String {
    line(custom_id, CHAT, &ask("kimi-k3", &json!({})))
}

async fn start(client: &TestClient, url: &str, content: &[u8]) -> String {
    let file = upload_id(client, content).await;
    let order = json!({"input_file_id": file, "endpoint": url, "completion_window": "24h"});
    let batch = client.post("/batches", &order).await.ok_json();
    assert_eq!(batch["status"], "validating");
    batch["id"].as_str().unwrap().to_owned()
}

async fn read(client: &TestClient, id: &str) -> Value {
    client.get(&format!("/batches/{id}")).await.ok_json()
}

/// The lines of a file of results.
async fn results(client: &TestClient, file: &Value) -> Vec<Value> {
    let Some(id) = file.as_str() else { return Vec::new() };
    let reply = client.get(&format!("/files/{id}/content")).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Runs a batch of these lines to its end.
async fn run(app: &TestApp, url: &str, lines: &[String]) -> (Value, Vec<Value>, Vec<Value>) {
    let id = start(&app.admin(), url, lines.join("\n").as_bytes()).await;
    app.run_batches().await;
    let batch = read(&app.admin(), &id).await;
    let output = results(&app.admin(), &batch["output_file_id"]).await;
    let errors = results(&app.admin(), &batch["error_file_id"]).await;
    (batch, output, errors)
}

#[tokio::test]
async fn each_line_is_answered_once_and_charged_at_half_price() {
    let app = TestApp::start().await;
    let content = format!("\u{feff}{}\r\n\r\n{}\n", chat_line("a"), chat_line("b"));
    let id = start(&app.admin(), CHAT, content.as_bytes()).await;
    app.run_batches().await;
    let batch = read(&app.admin(), &id).await;
    assert_eq!(batch["status"], "completed", "{batch}");
    assert_eq!(batch["request_counts"], json!({"total": 2, "completed": 2, "failed": 0}));
    assert_eq!(batch["error_file_id"], Value::Null);
    assert_eq!(batch["cost"]["usd"], Nano::from_nanos(2 * HALF_HELLO).as_f64());
    let output = results(&app.admin(), &batch["output_file_id"]).await;
    assert_eq!(output.len(), 2);
    for (result, custom_id) in output.iter().zip(["a", "b"]) {
        assert_eq!(result["custom_id"], custom_id);
        assert_eq!(
            (&result["response"]["status_code"], &result["error"]),
            (&json!(200), &Value::Null)
        );
        let body = &result["response"]["body"];
        assert_eq!(body["choices"][0]["message"]["content"], "Hello there!");
        assert_eq!(body["cost"]["usd"], Nano::from_nanos(HALF_HELLO).as_f64());
    }
    assert_eq!(app.verify_spent().await.nanos(), 2 * HALF_HELLO);
    assert_eq!(app.upstream.received_bodies().len(), 2);
    // Usage shows the reduced prices, under the request ids of the results.
    let usage = app.admin().get("/billing/usage").await.ok_json();
    let rows = usage["data"].as_array().unwrap();
    assert_eq!(rows.len(), 4, "input and output of each line: {usage}");
    let shown = |row: &Value| row["pricePerUnitUsd"].as_f64();
    assert!(rows.iter().any(|row| shown(row) == Some(0.7)), "{usage}");
    assert!(rows.iter().any(|row| shown(row) == Some(2.2)), "{usage}");
    let request = output[0]["response"]["request_id"].as_str().unwrap();
    assert!(usage.to_string().contains(request));
}

#[tokio::test]
async fn every_endpoint_of_batches_is_served() {
    let app = TestApp::start().await;
    let spent = async || app.verify_spent().await.nanos();
    let body = json!({"model": "kimi-k3", "input": "Hi"});
    let (batch, output, _) = run(&app, "/v1/responses", &[line("a", "/v1/responses", &body)]).await;
    assert_eq!(batch["status"], "completed");
    assert_eq!(output[0]["response"]["body"]["object"], "response", "{output:?}");
    let messages = json!([{"role": "user", "content": "Hi"}]);
    let body = json!({"model": "kimi-k3", "max_tokens": 50, "messages": messages});
    let (_, output, errors) = run(&app, "/v1/messages", &[line("a", "/v1/messages", &body)]).await;
    assert_eq!(output[0]["response"]["body"]["type"], "message", "{errors:?}");
    assert_eq!(spent().await, 2 * HALF_HELLO);
    embed_with(&app, Embedder::counting());
    let body = json!({"model": "text-embedding-bge-m3", "input": "Hi"});
    let (_, output, errors) =
        run(&app, "/v1/embeddings", &[line("a", "/v1/embeddings", &body)]).await;
    assert_eq!(output[0]["response"]["body"]["object"], "list", "{errors:?}");
    assert!(2 * HALF_HELLO < spent().await);
}

#[tokio::test]
async fn faults_of_the_file_fail_the_batch_with_their_lines() {
    let app = TestApp::start().await;
    let wrong_url = line("c", "/v1/embeddings", &json!({}));
    let wrong_method = chat_line("d").replace("POST", "GET");
    let without_id = chat_line("e").replace("\"custom_id\":\"e\",", "");
    let lines =
        [chat_line("a"), "{broken".into(), chat_line("a"), wrong_url, wrong_method, without_id];
    let (batch, output, _) = run(&app, CHAT, &lines).await;
    assert_eq!(batch["status"], "failed");
    assert!(batch["failed_at"].is_i64() && output.is_empty());
    let faults = batch["errors"]["data"].as_array().unwrap();
    let told: Vec<_> =
        faults.iter().map(|it| json!([it["line"], it["code"], it["param"]])).collect();
    assert_eq!(
        told,
        [
            json!([2, "invalid_json_line", null]),
            json!([3, "duplicate_custom_id", "custom_id"]),
            json!([4, "mismatched_url", "url"]),
            json!([5, "invalid_method", "method"]),
            json!([6, "missing_required_parameter", "custom_id"]),
        ]
    );
    assert_eq!(app.upstream.received_bodies().len(), 0);
    for content in [b"\xff\xfe\x00\x01".as_slice(), b"\n\r\n", b"[[[[", b"\x00"] {
        let id = start(&app.admin(), CHAT, content).await;
        app.run_batches().await;
        let batch = read(&app.admin(), &id).await;
        assert_eq!(batch["status"], "failed", "{content:?}");
        assert_eq!(batch["request_counts"]["total"], 0);
    }
    let many: Vec<_> = (0..1_001).map(|number| chat_line(&number.to_string())).collect();
    let (batch, ..) = run(&app, CHAT, &many).await;
    assert_eq!(batch["errors"]["data"][0]["code"], "too_many_requests");
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn a_bad_body_fails_its_line_only() {
    let app = TestApp::start().await;
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let deep = format!(
        "{{\"custom_id\":\"deep\",\"method\":\"POST\",\"url\":\"{CHAT}\",\"body\":{{\"model\":{deep}}}}}"
    );
    let lines = [
        line("unknown", CHAT, &ask("no-such-model", &json!({}))),
        line("stream", CHAT, &ask("kimi-k3", &json!({"stream": true}))),
        line("empty", CHAT, &json!({})),
        line("text", CHAT, &json!("a text")),
        deep,
        chat_line("good"),
    ];
    let (batch, output, errors) = run(&app, CHAT, &lines).await;
    assert_eq!(batch["status"], "completed");
    assert_eq!(batch["request_counts"], json!({"total": 6, "completed": 1, "failed": 5}));
    assert_eq!(output.len(), 1);
    let told: Vec<_> =
        errors.iter().map(|it| json!([it["custom_id"], it["response"]["status_code"]])).collect();
    assert_eq!(
        told,
        [
            json!(["unknown", 404]),
            json!(["stream", 400]),
            json!(["empty", 400]),
            json!(["text", 400]),
            json!(["deep", 400]),
        ]
    );
    // Errors have the shape of the API at the line's URL.
    for error in &errors {
        assert!(error["response"]["body"]["error"]["message"].is_string(), "{error}");
    }
    assert_eq!(app.verify_spent().await.nanos(), HALF_HELLO);
}

#[tokio::test]
async fn a_busy_upstream_is_asked_again() {
    let app = TestApp::start().await;
    for _ in 0..2 {
        let busy = json!({"error": {"message": "slow down"}});
        app.upstream.queue_script(UpstreamScript::json(429, &busy));
    }
    let id = start(&app.admin(), CHAT, chat_line("a").as_bytes()).await;
    let mut running = std::pin::pin!(app.run_batches());
    // The provider rests for a time of the service's clock.
    while timeout(Duration::from_millis(20), &mut running).await.is_err() {
        app.clock.advance_s(1);
    }
    let batch = read(&app.admin(), &id).await;
    let output = results(&app.admin(), &batch["output_file_id"]).await;
    assert_eq!((&batch["status"], output.len()), (&json!("completed"), 1), "{batch}");
    assert_eq!(app.verify_spent().await.nanos(), HALF_HELLO);
}

#[tokio::test]
async fn lines_without_money_get_402_and_the_batch_completes() {
    let app = TestApp::start().await;
    let (owner, poor) = app.funded_account("poor", "0.00005").await;
    // The hold of a line is at the reduced price too: at the full price it would not fit.
    let body = ask("kimi-k3", &json!({"max_tokens": 10}));
    let lines: Vec<_> = (0..4).map(|number| line(&number.to_string(), CHAT, &body)).collect();
    let id = start(&poor, CHAT, lines.join("\n").as_bytes()).await;
    app.run_batches().await;
    let batch = read(&poor, &id).await;
    assert_eq!(batch["status"], "completed");
    let errors = results(&poor, &batch["error_file_id"]).await;
    assert!(!errors.is_empty());
    for error in &errors {
        assert_eq!(error["response"]["status_code"], 402, "{error}");
    }
    let output = results(&poor, &batch["output_file_id"]).await;
    assert_eq!(output.len() + errors.len(), 4);
    let left = app.app.ledger.balances(owner).total().nanos();
    assert_eq!(left, 50_000 - HALF_HELLO * i64::try_from(output.len()).unwrap());
}

#[tokio::test]
async fn a_cancelled_batch_keeps_what_was_done() {
    let app = TestApp::start().await;
    let id =
        start(&app.admin(), CHAT, [chat_line("a"), chat_line("b")].join("\n").as_bytes()).await;
    let path = format!("/batches/{id}/cancel");
    assert_eq!(app.admin().post(&path, &json!({})).await.ok_json()["status"], "cancelling");
    let (_, other) = app.funded_account("other", "5").await;
    assert_eq!(other.post(&path, &json!({})).await.status, 404);
    app.run_batches().await;
    let batch = app.admin().post(&path, &json!({})).await.ok_json();
    assert_eq!(batch["status"], "cancelled");
    let errors = results(&app.admin(), &batch["error_file_id"]).await;
    assert_eq!(errors.len(), 2);
    assert_eq!(errors[0]["error"]["code"], "batch_cancelled");
    assert_eq!(app.verify_spent().await.nanos(), 0);
    let (done, ..) = run(&app, CHAT, &[chat_line("a")]).await;
    let path = format!("/batches/{}/cancel", done["id"].as_str().unwrap());
    assert_eq!(app.admin().post(&path, &json!({})).await.status, 409);
}

#[tokio::test]
async fn a_batch_that_is_late_ends_with_what_is_done() {
    let app = TestApp::start().await;
    let id = start(&app.admin(), CHAT, chat_line("a").as_bytes()).await;
    app.clock.advance_s(24 * 60 * 60 + 1);
    app.run_batches().await;
    let batch = read(&app.admin(), &id).await;
    assert_eq!(batch["status"], "expired");
    assert_eq!(batch["request_counts"], json!({"total": 1, "completed": 0, "failed": 1}));
    let errors = results(&app.admin(), &batch["error_file_id"]).await;
    assert_eq!(errors[0]["error"]["code"], "batch_expired");
}

#[tokio::test]
async fn a_revoked_key_ends_its_lines() {
    let app = TestApp::start().await;
    let key = app.create_key(&json!({"apiKeyType": "INFERENCE", "description": "short"})).await;
    let client = app.anonymous().with_bearer(key["apiKey"].as_str().unwrap());
    let id = start(&client, CHAT, chat_line("a").as_bytes()).await;
    let revoked =
        app.admin().delete(&format!("/api_keys?id={}", key["id"].as_str().unwrap())).await;
    assert_eq!(revoked.status, 200, "{}", revoked.text());
    app.run_batches().await;
    let batch = read(&app.admin(), &id).await;
    let errors = results(&app.admin(), &batch["error_file_id"]).await;
    assert_eq!(errors[0]["response"]["status_code"], 401, "{batch}");
    assert_eq!(app.upstream.received_bodies().len(), 0);
}

#[tokio::test]
async fn an_order_is_checked_before_it_is_taken() {
    let app = TestApp::start().await;
    let admin = app.admin();
    let file = upload(&admin, chat_line("a").as_bytes()).await.ok_json();
    let order = |change: Value| {
        let mut order =
            json!({"input_file_id": file["id"], "endpoint": CHAT, "completion_window": "24h"});
        for (name, value) in change.as_object().unwrap() {
            order[name] = value.clone();
        }
        order
    };
    let long = "x".repeat(513);
    for change in [
        json!({"completion_window": "1h"}),
        json!({"endpoint": "/v1/images/generations"}),
        json!({"metadata": {"a": long}}),
        json!({"metadata": {"a": 1}}),
        json!({"output_expires_after": {"anchor": "created_at", "seconds": 1}}),
        json!({"colour": "red"}),
    ] {
        let reply = admin.post("/batches", &order(change.clone())).await;
        assert_eq!(reply.status, 400, "{change}: {}", reply.text());
    }
    let tagged = order(
        json!({"metadata": {"a": "b"}, "output_expires_after": {"anchor": "created_at", "seconds": 3600}}),
    );
    let batch = admin.post("/batches", &tagged).await.ok_json();
    assert_eq!(batch["metadata"], json!({"a": "b"}));
    let path = format!("/files/{}", file["id"].as_str().unwrap());
    assert_eq!(admin.delete(&path).await.status, 409, "a batch reads it");
    app.run_batches().await;
    let listed = admin.get("/batches?limit=1").await.ok_json();
    assert_eq!(listed["data"][0]["id"], batch["id"]);
    let output = listed["data"][0]["output_file_id"].as_str().unwrap();
    let output = admin.get(&format!("/files/{output}")).await.ok_json();
    assert_eq!(output["purpose"], "batch_output");
    let lives = output["expires_at"].as_i64().unwrap() - output["created_at"].as_i64().unwrap();
    assert_eq!(lives, 3600);
    let reply = admin.post("/batches", &order(json!({"input_file_id": output["id"]}))).await;
    assert_eq!(reply.status, 400, "results are no input: {}", reply.text());
    assert_eq!(admin.delete(&path).await.status, 200);
    app.app.batches.drop_old_rows().await.unwrap();
    assert_eq!(read(&admin, batch["id"].as_str().unwrap()).await["status"], "completed");
}

#[tokio::test]
async fn accounts_take_turns_and_open_batches_are_bounded() {
    let app = TestApp::start().await;
    let (_, other) = app.funded_account("other", "5").await;
    let file = upload_id(&app.admin(), chat_line("a").as_bytes()).await;
    let order = json!({"input_file_id": file, "endpoint": CHAT, "completion_window": "24h"});
    for _ in 0..20 {
        assert_eq!(app.admin().post("/batches", &order).await.status, 200);
    }
    assert_eq!(app.admin().post("/batches", &order).await.status, 429);
    let id = start(&other, CHAT, chat_line("a").as_bytes()).await;
    // One turn of each account: the other's batch does not wait for the twenty before it.
    assert_eq!(app.run_batch_turns().await, 2);
    assert_eq!(read(&other, &id).await["status"], "completed");
    app.run_batches().await;
    assert_eq!(app.verify_spent().await.nanos(), 20 * HALF_HELLO);
}
