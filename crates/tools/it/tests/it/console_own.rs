//! Tests of console routes about the signed-in account, and of the texts for a wallet to sign.

use axum::body::Body;
use axum::http::Method;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::{TestClient, TestReply};
use testkit::wallet::TestWallet;

use crate::audio_queue::queue;
use crate::console::signed_in;

async fn list(page: &TestClient, what: &str) -> Vec<Value> {
    let path = format!("/console/{what}");
    let reply = page.send_raw(Method::GET, &path, Body::empty()).await.ok_json();
    reply["data"].as_array().unwrap().clone()
}

/// Sessions of an account with an ADMIN key and with an INFERENCE key.
async fn pages(app: &TestApp) -> (TestClient, TestClient, TestClient) {
    let made = app.create_key(&json!({"apiKeyType": "INFERENCE", "description": "calls"})).await;
    let (calls, _) = signed_in(app, made["apiKey"].as_str().unwrap()).await;
    let (admin, with_cookie) = signed_in(app, app.admin_secret()).await;
    (admin, calls, with_cookie)
}

#[tokio::test]
async fn refused_calls_are_listed_for_those_whose_they_are() {
    let app = TestApp::start().await;
    let (admin, calls, with_cookie) = pages(&app).await;
    let chat = json!({"model": "nothing-like-it", "messages": [{"role": "user", "content": "Hi"}]});
    let refused = calls.post("/chat/completions", &chat).await;
    assert_eq!(refused.status, 404);
    admin.post("/embeddings", &json!({"model": 5})).await;

    let own = list(&calls, "refused").await;
    assert_eq!(own.len(), 1, "{own:?}");
    assert_eq!(own[0]["path"], "/chat/completions");
    assert_eq!(own[0]["status"], 404);
    assert_eq!(own[0]["requestId"], refused.header("x-request-id"));
    assert!(own[0]["message"].as_str().unwrap().contains("model not found"), "{own:?}");
    let all = list(&admin, "refused").await;
    assert_eq!(all.len(), 2);
    assert_eq!(all[0]["path"], "/embeddings");

    let other = app.another_account("other").await;
    let body = json!({"apiKeyType": "ADMIN", "description": "theirs"});
    let made = other.post("/api_keys", &body).await.ok_json();
    let (theirs, _) = signed_in(&app, made["data"]["apiKey"].as_str().unwrap()).await;
    assert_eq!(list(&theirs, "refused").await, Vec::<Value>::new());
    for client in [with_cookie, app.admin()] {
        let reply = client.send_raw(Method::GET, "/console/refused", Body::empty()).await;
        assert_eq!(reply.status, 401, "neither a cookie nor a key alone is a page");
    }
}

#[tokio::test]
async fn refused_calls_are_counted_by_day_for_the_owner() {
    let app = TestApp::start().await;
    let (admin, calls, _) = pages(&app).await;
    let counted = async |page: &TestClient| {
        page.send_raw(Method::GET, "/console/refused", Body::empty()).await.ok_json()["counted"]
            .clone()
    };
    let before = counted(&admin).await;
    assert_eq!(before["days"], json!([]));
    let since = before["since"].as_str().unwrap();
    let chat = json!({"model": "nothing-like-it", "messages": [{"role": "user", "content": "Hi"}]});
    for page in [&admin, &calls] {
        assert_eq!(page.post("/chat/completions", &chat).await.status, 404);
    }
    assert_eq!(counted(&calls).await, Value::Null, "a key that sees only itself");
    let day = json!({"date": &since[..10], "refused": 2, "failed": 0});
    assert_eq!(counted(&admin).await, json!({"since": since, "days": [day]}));
}

#[tokio::test]
async fn what_is_left_of_a_limit_is_told_and_asking_takes_nothing_from_it() {
    let app = TestApp::start().await;
    let (admin, _, _) = pages(&app).await;
    let all = list(&admin, "limits").await;
    let before = all.iter().find(|it| it["tokens"].is_u64()).unwrap().clone();
    let id = before["model"].as_str().unwrap();
    assert_eq!(before["requests"], before["requestsLeft"]);
    let chat = json!({"model": id, "messages": [{"role": "user", "content": "Hi"}]});
    admin.post("/chat/completions", &chat).await.ok_json();
    let after = list(&admin, "limits").await;
    let after = after.iter().find(|it| it["model"] == id).unwrap();
    let left = |line: &Value| line["requestsLeft"].as_u64().unwrap();
    assert_eq!(left(after) + 1, left(&before));
    assert!(after["tokensLeft"].as_u64() < before["tokensLeft"].as_u64());
}

#[tokio::test]
async fn jobs_are_listed_for_those_whose_they_are() {
    let app = TestApp::start().await;
    let (admin, calls, _) = pages(&app).await;
    let id = queue(&admin).await;
    let listed = list(&admin, "jobs").await;
    assert_eq!((&listed[0]["queueId"], &listed[0]["state"]), (&json!(id), &json!("QUEUED")));
    assert_eq!(list(&calls, "jobs").await, Vec::<Value>::new(), "another key's job");
    app.run_jobs().await;
    let listed = list(&admin, "jobs").await;
    assert_eq!((&listed[0]["state"], &listed[0]["hasResult"]), (&json!("COMPLETED"), &json!(true)));
    assert_eq!(listed[0]["kind"], "audio");
}

async fn draft(page: &TestClient, body: &Value) -> TestReply {
    let body = Body::from(body.to_string());
    page.send_raw(Method::POST, "/console/solana-payment", body).await
}

#[tokio::test]
async fn a_wallet_on_solana_is_given_a_transaction_to_sign() {
    let mut app = TestApp::start().await;
    let (page, with_cookie) = signed_in(&app, app.admin_secret()).await;
    let payer = TestWallet::solana(77).address();
    let wanted = json!({"payer": payer, "amount": "7000000"});
    let first = draft(&page, &wanted).await.ok_json();
    let second = draft(&page, &wanted).await.ok_json();
    assert!(300 < first["transaction"].as_str().unwrap().len());
    assert_ne!(first, second, "each is a payment of its own");
    assert_eq!(draft(&with_cookie, &wanted).await.status, 401);
    for bad in [
        json!({"payer": payer, "amount": "4999999"}),
        json!({"payer": payer, "amount": "99999999999999999999"}),
        json!({"payer": payer, "amount": "-1"}),
        json!({"payer": "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65", "amount": "7000000"}),
        json!({"payer": payer}),
        json!({"payer": "x".repeat(2000), "amount": "7000000"}),
    ] {
        let status = draft(&page, &bad).await.status;
        assert!([400, 413].contains(&status), "{bad}: {status}");
    }
    app.refuse_payments();
    let (page, _) = signed_in(&app, app.admin_secret()).await;
    assert_eq!(draft(&page, &wanted).await.status, 400);
}
