//! Tests of body limits: bytes from unauthenticated callers, values per body, and the checks before
//! documents are parsed.

use axum::body::Body;
use axum::http::Method;
use expect_test::expect;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::wallet::TestWallet;

use crate::chat::PATH;

const LARGE: usize = 1024 * 1024;

fn zeros(count: usize) -> String {
    format!("{{\"a\":[{}0]}}", "0,".repeat(count))
}

#[tokio::test]
async fn whoever_shows_no_credential_may_send_little_wherever_it_calls() {
    let app = TestApp::start().await;
    let caller = app.anonymous().with("content-type", "application/json");
    for path in ["/api_keys/generate_web3_key", "/x402/top-up"] {
        let reply = caller.send(Method::POST, path, Body::from(zeros(LARGE))).await;
        assert!([402, 413].contains(&reply.status), "{path}: {} {}", reply.status, reply.text());
    }
}

#[tokio::test]
async fn a_wallet_without_a_balance_may_send_as_little_as_a_stranger() {
    let app = TestApp::start().await;
    let wallet = TestWallet::evm(1);
    let text = "word ".repeat(20_000);
    let chat = json!({"model": "kimi-k3", "messages": [{"role": "user", "content": text}]});
    let refused = app.signed_in(&wallet).post(PATH, &chat).await;
    assert_eq!(refused.status, 402, "{}", refused.text());
    app.fund(&wallet, "5").await;
    let taken = app.signed_in(&wallet).post(PATH, &chat).await;
    assert_eq!(taken.status, 200, "{}", taken.text());
}

#[tokio::test]
async fn a_body_has_a_bound_of_values_beside_that_of_bytes() {
    let app = TestApp::start().await;
    let caller = app.admin().with("content-type", "application/json");
    let many = caller.send(Method::POST, PATH, Body::from(zeros(500_000))).await;
    many.expect(expect![[
        r#"413 {"error":"The request body has more than 500,000 JSON values."}"#
    ]]);
    let fewer = caller.send(Method::POST, PATH, Body::from(zeros(400_000))).await;
    assert_eq!(fewer.status, 400, "it is parsed, and has no model");
    let text = json!({"a": "[,".repeat(LARGE)}).to_string();
    assert_eq!(caller.send(Method::POST, PATH, Body::from(text)).await.status, 400);
}

fn chat(files: usize) -> Value {
    let file = json!({"type": "file", "file": {"file_data": "data:text/plain;base64,SGk="}});
    let messages: Vec<Value> = (0..files.div_ceil(5))
        .map(|_| json!({"role": "user", "content": vec![file.clone(); 5.min(files)]}))
        .collect();
    json!({"model": "kimi-k3", "messages": messages})
}

#[tokio::test]
async fn documents_are_read_only_for_those_who_can_pay_and_are_within_their_limits() {
    let app = TestApp::start().await;
    let poor = app.another_account("poor").await;
    assert_eq!(poor.post(PATH, &chat(1)).await.status, 402);
    assert_eq!(app.reader_task_count(), 0, "nothing was read for it");
    assert_eq!(app.admin().post(PATH, &chat(1)).await.status, 200);
    assert_eq!(app.reader_task_count(), 1);
    loop {
        let reply = app
            .admin()
            .post(
                PATH,
                &json!({"model": "kimi-k3", "messages": [{"role": "user", "content": "Hi"}]}),
            )
            .await;
        if reply.status == 429 {
            break;
        }
        assert_eq!(reply.status, 200, "{}", reply.text());
    }
    assert_eq!(app.admin().post(PATH, &chat(1)).await.status, 429);
    assert_eq!(app.reader_task_count(), 1, "nor for whoever is too fast");
}

#[tokio::test]
async fn a_request_has_a_bound_of_files() {
    let app = TestApp::start().await;
    assert_eq!(app.admin().post(PATH, &chat(20)).await.status, 200);
    let reply = app.admin().post(PATH, &chat(25)).await;
    assert_eq!(reply.status, 400);
    assert!(reply.text().contains("A request may have at most 20 files"), "{}", reply.text());
    assert_eq!(app.reader_task_count(), 20, "one for each file of the first request");
}

#[tokio::test]
async fn addresses_are_passed_on_as_they_were_judged() {
    let app = TestApp::start().await;
    let send = async |url: &str| {
        let part = json!({"type": "image_url", "image_url": {"url": url}});
        let messages = json!([{"role": "user", "content": [part]}]);
        app.admin().post(PATH, &json!({"model": "kimi-k3", "messages": messages})).await
    };
    let reply = send(r"http://1.1.1.1\@169.254.169.254/latest").await;
    assert_eq!(reply.status, 400);
    assert!(reply.text().contains("backslashes"), "{}", reply.text());
    assert_eq!(send("HTTPS://EXAMPLE.com:443/a/../b.png").await.status, 200);
    let seen = app.upstream.received_bodies();
    let url = &seen[0]["messages"][1]["content"][0]["image_url"]["url"];
    assert_eq!(url, "https://example.com/b.png");
}
