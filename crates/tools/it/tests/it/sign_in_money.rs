//! Tests of the balances of signed-in wallets, the names of their chain, and the rate limit of
//! sign-ins.

use std::net::{IpAddr, Ipv4Addr};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::limits::tiers::MinuteLimits;
use domain::limits::window::LimitSubject;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::wallet::{SignInContent, TestWallet};

use crate::sign_in::ask;

#[tokio::test]
async fn a_stream_tells_what_a_wallet_has_and_not_what_is_left_beside_the_hold() {
    let app = TestApp::start().await;
    let wallet = TestWallet::evm(1);
    app.fund(&wallet, "5").await;
    let body = json!({"model": "kimi-k3", "stream": true,
        "messages": [{"role": "user", "content": "x"}]});
    let reply = app.signed_in(&wallet).open("/chat/completions", &body).await;
    assert_eq!(reply.headers["x-balance-remaining"], "5");
}

#[tokio::test]
async fn a_wallet_above_the_floor_that_cannot_pay_is_told_how_to_top_up() {
    let app = TestApp::start().await;
    let wallet = TestWallet::evm(1);
    app.fund(&wallet, "0.2").await;
    let chat = json!({"model": "kimi-k3", "max_completion_tokens": 200_000,
        "messages": [{"role": "user", "content": "x"}]});
    let reply = app.signed_in(&wallet).post("/chat/completions", &chat).await;
    assert_eq!(reply.status, 402, "{}", reply.text());
    let body = reply.json();
    assert_eq!(body["code"], "PAYMENT_REQUIRED");
    assert_eq!(body["reason"], "insufficient_balance");
    assert_eq!(body["currentBalanceUsd"], 0.2);
    assert!(
        body["message"].as_str().unwrap().contains("is needed and $0.2 is available"),
        "{body}"
    );
    assert!(body["topUpInstructions"]["receiverWallet"].is_string());
    let header = STANDARD.decode(reply.header("payment-required")).unwrap();
    let header: Value = serde_json::from_slice(&header).unwrap();
    assert_eq!(header["x402Version"], 2);
    assert!(!header["accepts"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn a_key_that_cannot_pay_gets_no_instructions_for_wallets() {
    let app = TestApp::start().await;
    let (_, poor) = app.funded_account("poor", "0.2").await;
    let chat = json!({"model": "kimi-k3", "max_completion_tokens": 200_000,
        "messages": [{"role": "user", "content": "x"}]});
    let reply = poor.post("/chat/completions", &chat).await;
    assert_eq!(reply.status, 402);
    assert_eq!(reply.json()["code"], "INSUFFICIENT_BALANCE");
    assert!(!reply.headers.contains_key("payment-required"));
}

#[tokio::test]
async fn solana_wallets_name_their_chain_as_they_like() {
    let app = TestApp::start().await;
    let wallet = TestWallet::solana(2);
    app.fund(&wallet, "5").await;
    let names = ["mainnet", "solana:mainnet", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"];
    for name in names {
        let says = SignInContent {
            chain_id: name.to_owned(),
            ..wallet.sign_in_content(app.app.clock.now())
        };
        let header = json!({"address": wallet.address(), "message": wallet.sign_in_text(&says),
            "signature": wallet.sign(&wallet.sign_in_text(&says)), "type": "ed25519"});
        let header = STANDARD.encode(header.to_string());
        let reply = ask(&app.anonymous().with("sign-in-with-x", &header)).await;
        assert_eq!(reply.status, 200, "{name}: {}", reply.text());
    }
    // In the fields form, the name beside the signature is the signed one.
    let says = SignInContent {
        chain_id: "mainnet".to_owned(),
        ..wallet.sign_in_content(app.app.clock.now())
    };
    let header = wallet.sign_in_fields_header(&says);
    let reply = ask(&app.anonymous().with("sign-in-with-x", &header)).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let says = SignInContent {
        chain_id: "testnet".to_owned(),
        ..wallet.sign_in_content(app.app.clock.now())
    };
    let header = wallet.sign_in_header(&says);
    assert_eq!(ask(&app.anonymous().with("sign-in-with-x", &header)).await.status, 401);
}

#[tokio::test]
async fn sign_ins_are_counted_by_address_before_anything_is_written() {
    let app = TestApp::start().await;
    let wallet = TestWallet::evm(1);
    let path = format!("/x402/balance/{}", wallet.address());
    assert_eq!(app.signed_in(&wallet).get(&path).await.status, 200);
    // Uses up the rest of the minute's limit.
    let subject = LimitSubject::new(IpAddr::V4(Ipv4Addr::LOCALHOST), "unpaid-sign-in");
    let allowed = MinuteLimits { requests: 60, tokens: None };
    let now = app.app.clock.now();
    for _ in 1..60 {
        app.app.limiter.admit(subject, allowed, 0, now).unwrap();
    }
    let refused = app.signed_in(&wallet).get(&path).await;
    assert_eq!(refused.status, 429, "{}", refused.text());
    let forged = TestWallet::evm(2);
    let refused = app.signed_in(&forged).get(&path).await;
    assert_eq!(refused.status, 429, "another wallet is no other address: {}", refused.text());
    app.clock.advance_s(61);
    assert_eq!(app.signed_in(&wallet).get(&path).await.status, 200);
}

#[tokio::test]
async fn a_wallet_that_pays_signs_in_as_often_as_it_calls() {
    let app = TestApp::start().await;
    let wallet = TestWallet::evm(1);
    app.fund(&wallet, "5").await;
    for call in 0..100 {
        // Reading the balance has its own limit.
        let reply = ask(&app.signed_in(&wallet)).await;
        assert_ne!(reply.status, 402, "{call}: {}", reply.text());
        let is_sign_in = reply.status == 429 && reply.text().contains("60 requests a minute");
        assert!(!is_sign_in, "{call}: {}", reply.text());
    }
}
