//! Tests of the console's pages and sessions: their rights, and the limits of a cookie alone.

use std::net::{IpAddr, Ipv4Addr};

use axum::body::Body;
use axum::http::Method;
use domain::limits::tiers::MinuteLimits;
use domain::limits::window::LimitSubject;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::{TestClient, TestReply};
use testkit::wallet::TestWallet;

const SESSION: &str = "/console/session";

pub(crate) async fn begin(client: &TestClient, entry: &Value) -> TestReply {
    let client = client.with("content-type", "application/json");
    client.send_raw(Method::POST, SESSION, Body::from(entry.to_string())).await
}

pub(crate) fn cookie(reply: &TestReply) -> String {
    let set = reply.header("set-cookie");
    assert!(set.contains("HttpOnly; SameSite=Strict"), "{set}");
    set.split(';').next().unwrap().to_owned()
}

/// A signed-in browser: a client with its cookie, and one that also has the page's CSRF proof.
pub(crate) async fn signed_in(app: &TestApp, key: &str) -> (TestClient, TestClient) {
    let reply = begin(&app.anonymous(), &json!({ "key": key })).await;
    let with_cookie = app.anonymous().with("cookie", &cookie(&reply));
    let proof = reply.ok_json()["proof"].as_str().unwrap().to_owned();
    (with_cookie.with("x-console-proof", &proof), with_cookie)
}

async fn probe(client: &TestClient) -> Value {
    client.send_raw(Method::GET, SESSION, Body::empty()).await.ok_json()
}

#[tokio::test]
async fn nobody_signed_in_is_an_answer_and_no_error() {
    let app = TestApp::start().await;
    let told = probe(&app.anonymous()).await;
    assert_eq!(told["signedIn"], false);
    let told = probe(&app.anonymous().with("cookie", "tollgate_session=made-up")).await;
    assert_eq!(told["signedIn"], false);
}

#[tokio::test]
async fn a_session_stands_for_its_key() {
    let app = TestApp::start().await;
    let (page, _) = signed_in(&app, app.admin_secret()).await;
    let told = probe(&page).await;
    assert_eq!((&told["account"], &told["keyType"]), (&json!("default"), &json!("ADMIN")));
    assert_eq!(page.get("/billing/balance").await.ok_json()["balances"]["usd"], 10.0);
    assert_eq!(page.get("/api_keys").await.ok_json()["data"].as_array().unwrap().len(), 1);
    let chat = json!({"model": "default_code", "messages": [{"role": "user", "content": "Hi"}]});
    page.post("/chat/completions", &chat).await.ok_json();
}

#[tokio::test]
async fn a_cookie_alone_opens_nothing() {
    let app = TestApp::start().await;
    let (page, with_cookie) = signed_in(&app, app.admin_secret()).await;
    assert_eq!(with_cookie.get("/api_keys").await.status, 401);
    let forged = with_cookie.with("x-console-proof", "AAAA");
    assert_eq!(forged.get("/api_keys").await.status, 401);
    let elsewhere = page.with("sec-fetch-site", "same-site");
    assert_eq!(elsewhere.get("/api_keys").await.status, 401);
    assert_eq!(page.with("sec-fetch-site", "same-origin").get("/api_keys").await.status, 200);
}

#[tokio::test]
async fn a_key_that_is_sent_counts_before_the_session() {
    let app = TestApp::start().await;
    let (page, _) = signed_in(&app, app.admin_secret()).await;
    assert_eq!(page.with_bearer("SERVICE_ADMIN_KEY_wrong").get("/api_keys").await.status, 401);
}

#[tokio::test]
async fn a_session_ends_with_its_key() {
    let app = TestApp::start().await;
    let body = json!({"apiKeyType": "ADMIN", "description": "short-lived"});
    let made = app.create_key(&body).await;
    let (page, _) = signed_in(&app, made["apiKey"].as_str().unwrap()).await;
    assert_eq!(page.get("/api_keys").await.status, 200);
    let path = format!("/api_keys?id={}", made["id"].as_str().unwrap());
    app.admin().delete(&path).await.ok_json();
    assert_eq!(page.get("/api_keys").await.status, 401);
    assert_eq!(probe(&page).await["signedIn"], false);
}

#[tokio::test]
async fn a_session_ends_when_somebody_signs_out_and_after_half_a_day() {
    let app = TestApp::start().await;
    let (page, with_cookie) = signed_in(&app, app.admin_secret()).await;
    let (other, _) = signed_in(&app, app.admin_secret()).await;
    let unproved = with_cookie.send_raw(Method::DELETE, SESSION, Body::empty()).await;
    assert_eq!(unproved.status, 401);
    page.send_raw(Method::DELETE, SESSION, Body::empty()).await.ok_json();
    assert_eq!(page.get("/api_keys").await.status, 401);
    assert_eq!(other.get("/api_keys").await.status, 200);
    app.clock.0.advance(std::time::Duration::from_secs(12 * 60 * 60));
    assert_eq!(other.get("/api_keys").await.status, 401);
}

#[tokio::test]
async fn a_session_lives_on_in_another_process() {
    let mut app = TestApp::start().await;
    let reply = begin(&app.anonymous(), &json!({ "key": app.admin_secret() })).await;
    let proof = reply.ok_json()["proof"].as_str().unwrap().to_owned();
    app.restart().await;
    let page = app.anonymous().with("cookie", &cookie(&reply)).with("x-console-proof", &proof);
    assert_eq!(page.get("/api_keys").await.status, 200);
}

#[tokio::test]
async fn an_inference_session_is_no_admin() {
    let app = TestApp::start().await;
    let made = app.create_key(&json!({"apiKeyType": "INFERENCE", "description": "calls"})).await;
    let (page, _) = signed_in(&app, made["apiKey"].as_str().unwrap()).await;
    assert_eq!(page.get("/api_keys").await.status, 401);
    page.get("/api_keys/rate_limits").await.ok_json();
}

#[tokio::test]
async fn a_link_signs_in_the_operator_once_and_within_the_hour() {
    let mut app = TestApp::start().await;
    let hour = std::time::Duration::from_secs(60 * 60);
    let offer = async |app: &TestApp| {
        let until = app.app.clock.now().plus(hour);
        app.app.keys.create_link(app.owner(), until).await.unwrap().1
    };
    let token = offer(&app).await;
    assert_eq!(begin(&app.anonymous(), &json!({"link": "wrong"})).await.status, 401);
    assert_eq!(app.anonymous().with_bearer(&token).get("/api_keys").await.status, 401);
    let reply = begin(&app.anonymous(), &json!({"link": token})).await;
    let told = reply.ok_json();
    assert_eq!((&told["keyType"], &told["isOperator"]), (&json!("OPERATOR"), &json!(true)));
    app.restart().await;
    assert_eq!(begin(&app.anonymous(), &json!({"link": token})).await.status, 401);
    let proof = told["proof"].as_str().unwrap();
    let page = app.anonymous().with("cookie", &cookie(&reply)).with("x-console-proof", proof);
    app.clock.0.advance(11 * hour);
    assert_eq!(page.get("/api_keys").await.status, 200, "the session outlives the link");
    app.clock.0.advance(hour);
    assert_eq!(page.get("/api_keys").await.status, 401);
    assert_eq!(begin(&app.anonymous(), &json!({"link": token})).await.status, 401);
    let token = offer(&app).await;
    app.clock.0.advance(hour);
    assert_eq!(begin(&app.anonymous(), &json!({"link": token})).await.status, 401);
}

#[tokio::test]
async fn over_tls_the_cookie_is_bound_to_its_host() {
    let mut app = TestApp::start().await;
    app.set_public_url("https://testhost");
    let reply = begin(&app.anonymous(), &json!({ "key": app.admin_secret() })).await;
    let set = reply.header("set-cookie");
    assert!(set.starts_with("__Host-tollgate_session="), "{set}");
    assert!(set.contains("; Path=/;") && set.ends_with("; Secure"), "{set}");
    assert!(!set.contains("Domain"), "{set}");
    let proof = reply.ok_json()["proof"].as_str().unwrap().to_owned();
    let page = app.anonymous().with("x-console-proof", &proof);
    assert_eq!(page.with("cookie", &cookie(&reply)).get("/api_keys").await.status, 200);
    let plain = cookie(&reply).replace("__Host-", "");
    assert_eq!(page.with("cookie", &plain).get("/api_keys").await.status, 401);
}

#[tokio::test]
async fn a_wallet_signs_in_and_reads_what_is_its_own() {
    let app = TestApp::start().await;
    let wallet = TestWallet::evm(7);
    app.fund(&wallet, "3").await;
    let reply = begin(&app.signed_in(&wallet), &json!({})).await;
    let proof = reply.ok_json()["proof"].as_str().unwrap().to_owned();
    let page = app.anonymous().with("cookie", &cookie(&reply)).with("x-console-proof", &proof);
    let balance = page.get(&format!("/x402/balance/{}", wallet.address())).await.ok_json();
    assert_eq!(balance["data"]["balanceUsd"], 3.0);
    let other = TestWallet::evm(8);
    assert_eq!(page.get(&format!("/x402/balance/{}", other.address())).await.status, 403);
    assert_eq!(page.get("/api_keys").await.status, 401);
}

#[tokio::test]
async fn signing_in_takes_json_from_a_page_of_ours_and_guessing_ends() {
    let app = TestApp::start().await;
    let entry = json!({ "key": app.admin_secret() }).to_string();
    let sent = app.anonymous().with("content-type", "text/plain");
    let reply = sent.send_raw(Method::POST, SESSION, Body::from(entry.clone())).await;
    assert_eq!(reply.status, 415);
    let elsewhere = app.anonymous().with("sec-fetch-site", "cross-site");
    assert_eq!(begin(&elsewhere, &json!({ "key": app.admin_secret() })).await.status, 415);
    assert_eq!(begin(&app.anonymous(), &json!({})).await.status, 400);
    assert_eq!(begin(&app.anonymous(), &json!({"key": 5})).await.status, 400);
    let long = json!({ "key": "x".repeat(5000) });
    assert_eq!(begin(&app.anonymous(), &long).await.status, 413);
    for _ in 0..20 {
        begin(&app.anonymous(), &json!({"key": "guess"})).await;
    }
    let reply = begin(&app.anonymous(), &json!({ "key": app.admin_secret() })).await;
    assert_eq!(reply.status, 429);
}

#[tokio::test]
async fn only_the_operator_operates_and_the_audit_trail_knows_with_which_key() {
    let app = TestApp::start().await;
    let ask = json!({"operation": "list_accounts"}).to_string();
    let path = "/console/operator";
    let operate = |client: TestClient| {
        let body = Body::from(ask.clone());
        async move { client.send_raw(Method::POST, path, body).await }
    };
    let secret = app.operator_secret().await;
    let told = operate(app.anonymous().with_bearer(&secret)).await.ok_json();
    assert_eq!(told["asked"]["operation"], "list_accounts");
    assert_eq!(told["by"], secret[secret.len() - 6..]);
    let (page, with_cookie) = signed_in(&app, &secret).await;
    operate(page).await.ok_json();
    assert_eq!(operate(with_cookie).await.status, 401);

    let (page, _) = signed_in(&app, app.admin_secret()).await;
    assert_eq!(probe(&page).await["isOperator"], false);
    assert_eq!(operate(page).await.status, 403);
    assert_eq!(operate(app.admin()).await.status, 403);
}

#[tokio::test]
async fn pages_are_counted_by_address_and_the_api_apart_from_them() {
    let app = TestApp::start().await;
    let get = |path: &'static str| {
        let client = app.anonymous();
        async move { client.send_raw(Method::GET, path, Body::empty()).await }
    };
    let pages = ["/", "/docs/search.json", "/llms.txt", "/console/terms", "/api/v1/openapi.json"];
    for path in pages {
        assert_eq!(get(path).await.status, 200, "{path}");
    }
    let subject = LimitSubject::new(IpAddr::V4(Ipv4Addr::LOCALHOST), "pages");
    let allowed = MinuteLimits { requests: 1_200, tokens: None };
    for _ in pages.len()..1_200 {
        app.app.limiter.admit(subject, allowed, 0, app.app.clock.now()).unwrap();
    }
    for path in pages {
        let refused = get(path).await;
        assert_eq!(refused.status, 429, "{path}");
        assert!(!refused.header("retry-after").is_empty());
    }
    assert_eq!(app.anonymous().get("/models").await.status, 200);
}

#[tokio::test]
async fn pages_come_with_a_strict_policy_and_are_sent_once() {
    let app = TestApp::start().await;
    let get = |path: &'static str| {
        let client = app.anonymous();
        async move { client.send_raw(Method::GET, path, Body::empty()).await }
    };
    for path in ["/", "/docs", "/docs/limits", "/docs/api", "/docs/operating"] {
        let page = get(path).await;
        assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
        let policy = page.header("content-security-policy");
        assert!(policy.contains("default-src 'none'; script-src 'self'; style-src 'self';"));
        assert!(!policy.contains("unsafe"), "{policy}");
    }
    let script = get("/assets/main.js").await;
    assert_eq!(script.header("content-type"), "text/javascript; charset=utf-8");
    let known = app.anonymous().with("if-none-match", script.header("etag"));
    let again = known.send_raw(Method::GET, "/assets/main.js", Body::empty()).await;
    assert_eq!((again.status, again.body.len()), (304, 0));
    assert_eq!(get("/docs/limits.md").await.text(), "# Limits\n");
    assert_eq!(get("/docs/nothing").await.status, 404);
    assert_eq!(get("/assets/nothing.js").await.status, 404);
    let list = get("/llms.txt").await.text();
    assert!(list.contains("- [Limits](http://testhost/docs/limits.md)"), "{list}");
    assert!(!list.contains("Operating"), "{list}");
    let index = get("/docs/index.json").await.ok_json();
    let pages =
        [0, 1].map(|place| (index[place]["slug"].clone(), index[place]["isForOperators"].clone()));
    assert_eq!(pages, [(json!("limits"), json!(false)), (json!("operating"), json!(true))]);
}
