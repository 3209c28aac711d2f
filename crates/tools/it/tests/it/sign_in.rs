//! Tests of wallet sign-in: valid and invalid sign-ins, and their rights.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use expect_test::expect;
use serde_json::{Value, json};
use store::owner::OwnerKind;
use testkit::app::TestApp;
use testkit::client::{TestClient, TestReply};
use testkit::wallet::{SignInContent, TestWallet};
use wallet::EvmAddress;

fn chat() -> Value {
    json!({"model": "default_code", "messages": [{"role": "user", "content": "Hi"}]})
}

pub(crate) async fn ask(client: &TestClient) -> TestReply {
    client.post("/chat/completions", &chat()).await
}

/// Signs in to a chat with a changed sign-in.
async fn say(app: &TestApp, wallet: &TestWallet, change: impl Fn(&mut SignInContent)) -> TestReply {
    let mut says = wallet.sign_in_content(app.app.clock.now());
    change(&mut says);
    ask(&app.anonymous().with("sign-in-with-x", &wallet.sign_in_header(&says))).await
}

#[track_caller]
fn refused(reply: &TestReply, code: &str) {
    assert_eq!(
        (reply.status, reply.json()["code"].as_str()),
        (401, Some(code)),
        "{}",
        reply.text()
    );
}

#[tokio::test]
async fn a_wallet_with_money_pays_for_its_chats() {
    let app = TestApp::start().await;
    for wallet in [TestWallet::evm(1), TestWallet::solana(2)] {
        let owner = app.fund(&wallet, "5").await;
        let reply = ask(&app.signed_in(&wallet)).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert_eq!(reply.header("x-service-balance-usd"), "5");
        let left: f64 = reply.header("x-balance-remaining").parse().unwrap();
        assert!(left < 5.0, "{left}");
        assert_eq!(app.app.ledger.balances(owner).usd.as_f64(), left);
    }
    assert_eq!(app.verify_spent().await.as_f64(), 0.0, "nobody else paid");
}

#[tokio::test]
async fn both_forms_and_both_headers_are_taken() {
    let app = TestApp::start().await;
    for wallet in [TestWallet::evm(1), TestWallet::solana(2)] {
        app.fund(&wallet, "5").await;
        let now = app.app.clock.now();
        for name in ["SIGN-IN-WITH-X", "X-Sign-In-With-X"] {
            let message = wallet.sign_in_header(&wallet.sign_in_content(now));
            let fields = wallet.sign_in_fields_header(&wallet.sign_in_content(now));
            for header in [message, fields] {
                let reply = ask(&app.anonymous().with(name, &header)).await;
                assert_eq!(reply.status, 200, "{name}: {}", reply.text());
            }
        }
    }
}

#[tokio::test]
async fn a_wallet_may_call_every_endpoint_that_costs_something() {
    let app = TestApp::start().await;
    let wallet = TestWallet::evm(1);
    app.fund(&wallet, "5").await;
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber", "params": []});
    let reply = app.signed_in(&wallet).post("/crypto/rpc/base-mainnet", &call).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let body = json!({"model": "default_code", "input": "Hi"});
    let reply = app.signed_in(&wallet).post("/responses", &body).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let document = api::build_openapi_document();
    let paid = ["/chat/completions", "/responses", "/embeddings", "/completions"];
    for path in paid.into_iter().chain(["/crypto/rpc/{network}"]) {
        let security = &document["paths"][path]["post"]["security"];
        assert_eq!(*security, json!([{"bearer": []}, {"signInWithX": []}]), "{path}");
    }
}

#[tokio::test]
async fn each_fault_of_a_sign_in_has_a_code_of_its_own() {
    let app = TestApp::start().await;
    let wallet = TestWallet::evm(1);
    app.fund(&wallet, "5").await;
    let caller = app.anonymous();
    for junk in ["", "%%%", "bm90IGpzb24=", "W10="] {
        let reply = ask(&caller.with("sign-in-with-x", junk)).await;
        refused(&reply, "X402_SIGN_IN_INVALID_PAYLOAD");
    }
    let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
    let reply = say(&app, &wallet, |says| says.domain = "evil.example".to_owned()).await;
    refused(&reply, "X402_SIGN_IN_DOMAIN_MISMATCH");
    let reply = say(&app, &wallet, |says| says.uri = "http://testhost.evil.example".into()).await;
    refused(&reply, "X402_SIGN_IN_DOMAIN_MISMATCH");
    let reply = say(&app, &wallet, |says| says.chain_id = "1".to_owned()).await;
    refused(&reply, "X402_SIGN_IN_UNSUPPORTED_CHAIN");
    let reply = say(&app, &wallet, |says| says.issued_at = says.issued_at.minus(minutes(6))).await;
    refused(&reply, "X402_SIGN_IN_EXPIRED");
    let reply = say(&app, &wallet, |says| says.issued_at = says.issued_at.plus(minutes(1))).await;
    refused(&reply, "X402_SIGN_IN_FUTURE_TIMESTAMP");
    let reply = say(&app, &wallet, |says| says.expires = Some(says.issued_at)).await;
    refused(&reply, "X402_SIGN_IN_EXPIRED");
    let reply = say(&app, &wallet, |says| says.nonce = "short".to_owned()).await;
    refused(&reply, "X402_SIGN_IN_INVALID_MESSAGE");
    reply.expect(expect![[r#"401 {"error":"The sign-in message is missing a field or has a wrong one","code":"X402_SIGN_IN_INVALID_MESSAGE"}"#]]);
}

#[tokio::test]
async fn a_signature_of_somebody_else_opens_nothing() {
    let app = TestApp::start().await;
    let (owner, thief) = (TestWallet::evm(1), TestWallet::evm(2));
    app.fund(&owner, "5").await;
    let says = owner.sign_in_content(app.app.clock.now());
    let stolen = STANDARD.decode(thief.sign_in_header(&says)).unwrap();
    let stolen = String::from_utf8(stolen).unwrap().replace(&thief.address(), &owner.address());
    let reply = ask(&app.anonymous().with("sign-in-with-x", &STANDARD.encode(stolen))).await;
    refused(&reply, "X402_SIGN_IN_INVALID_SIGNATURE");
}

#[tokio::test]
async fn a_contract_wallet_is_believed_if_its_contract_says_so() {
    let app = TestApp::start().await;
    let (contract, signer) = (TestWallet::evm(1), TestWallet::evm(2));
    app.fund(&contract, "5").await;
    let signed = || {
        let says = contract.sign_in_content(app.app.clock.now());
        let by_signer = STANDARD.decode(signer.sign_in_header(&says)).unwrap();
        let text = String::from_utf8(by_signer).unwrap();
        // The text names the contract; the signer's key signs any text.
        STANDARD.encode(text.replace(&signer.address(), &contract.address()))
    };
    let caller = app.anonymous();
    let reply = ask(&caller.with("sign-in-with-x", &signed())).await;
    refused(&reply, "X402_SIGN_IN_INVALID_SIGNATURE");
    app.chain.deploy(EvmAddress::parse(&contract.address()).unwrap());
    let reply = ask(&caller.with("sign-in-with-x", &signed())).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
}

#[tokio::test]
async fn a_nonce_is_used_once_even_across_a_restart() {
    let mut app = TestApp::start().await;
    let wallet = TestWallet::evm(1);
    app.fund(&wallet, "5").await;
    let says = wallet.sign_in_content(app.app.clock.now());
    let header = wallet.sign_in_header(&says);
    assert_eq!(ask(&app.anonymous().with("sign-in-with-x", &header)).await.status, 200);
    refused(
        &ask(&app.anonymous().with("sign-in-with-x", &header)).await,
        "X402_SIGN_IN_NONCE_REUSED",
    );
    app.settle_tasks().await;
    app.restart().await;
    let reply = ask(&app.anonymous().with("sign-in-with-x", &header)).await;
    reply.expect(expect![[
        r#"401 {"error":"This nonce has already been used","code":"X402_SIGN_IN_NONCE_REUSED"}"#
    ]]);

    let other = TestWallet::evm(2);
    app.fund(&other, "5").await;
    let same = SignInContent { nonce: says.nonce, ..other.sign_in_content(app.app.clock.now()) };
    let reply = ask(&app.anonymous().with("sign-in-with-x", &other.sign_in_header(&same))).await;
    assert_eq!(reply.status, 200, "nonces are each wallet's own: {}", reply.text());
}

#[tokio::test]
async fn a_store_that_fails_is_a_503_and_never_a_401_for_wallets_too() {
    let app = TestApp::with_failing_store().await;
    let wallet = TestWallet::evm(1);
    let reply = ask(&app.signed_in(&wallet)).await;
    assert_eq!(reply.status, 503, "{}", reply.text());
}

#[tokio::test]
async fn a_wallet_without_money_is_told_how_to_top_up_and_leaves_no_row() {
    let app = TestApp::start().await;
    let wallet = TestWallet::evm(1);
    let reply = ask(&app.signed_in(&wallet)).await;
    assert_eq!(reply.status, 402);
    let mut body = reply.json();
    let info = body["siwxChallenge"]["info"].take();
    assert_eq!(info["domain"], "testhost");
    assert_eq!(info["uri"], "http://testhost/api/v1/chat/completions");
    expect![[r#"
        {
          "error": "Payment required",
          "code": "PAYMENT_REQUIRED",
          "reason": "insufficient_balance",
          "message": "The wallet has $0 and needs at least $0.1. Top up with POST /api/v1/x402/top-up.",
          "currentBalanceUsd": 0,
          "minimumBalanceUsd": 0.1,
          "suggestedTopUpUsd": 10,
          "minimumTopUpUsd": 5,
          "supportedTokens": [
            "USDC"
          ],
          "supportedChains": [
            "base",
            "solana"
          ],
          "topUpInstructions": {
            "step1": "Get the payment terms: POST http://testhost/api/v1/x402/top-up without a payment.",
            "step2": "Sign a USDC payment for one of the entries in `accepts`.",
            "step3": "Send it in the PAYMENT-SIGNATURE header to the same URL, then send this request again with a new sign-in.",
            "receiverWallet": "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65",
            "tokenAddress": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "tokenDecimals": 6,
            "network": "eip155:8453",
            "minimumAmountUsd": 5
          },
          "siwxChallenge": {
            "info": null,
            "supportedChains": [
              {
                "chainId": "eip155:8453",
                "type": "eip191"
              },
              {
                "chainId": "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
                "type": "ed25519"
              }
            ]
          }
        }"#]].assert_eq(&format!("{body:#}"));
    let required = unheader(reply.header("payment-required"));
    assert_eq!(required["accepts"].as_array().unwrap().len(), 2);
    assert_eq!(required["extensions"]["sign-in-with-x"]["info"]["domain"], "testhost");

    let rows = app.app.store.find_owner(OwnerKind::Evm, &wallet.name()).await.unwrap();
    assert_eq!(rows, None, "a wallet that never paid has no account");
}

#[tokio::test]
async fn under_ten_cents_nothing_can_be_called() {
    let app = TestApp::start().await;
    let wallet = TestWallet::evm(1);
    app.fund(&wallet, "0.099999999").await;
    assert_eq!(ask(&app.signed_in(&wallet)).await.status, 402);
    app.fund(&wallet, "0.000000001").await;
    assert_eq!(ask(&app.signed_in(&wallet)).await.status, 200);
}

#[tokio::test]
async fn where_no_payments_are_taken_nobody_is_told_to_pay() {
    let mut app = TestApp::start().await;
    app.refuse_payments();
    let reply = ask(&app.anonymous()).await;
    let body = reply.json();
    assert_eq!((reply.status, &body["accepts"]), (402, &json!([])));
    assert_eq!(body["extensions"], Value::Null);
    let wallet = TestWallet::evm(1);
    let reply = ask(&app.signed_in(&wallet)).await;
    assert_eq!((reply.status, &reply.json()["code"]), (402, &json!("INSUFFICIENT_BALANCE")));
    app.fund(&wallet, "5").await;
    assert_eq!(ask(&app.signed_in(&wallet)).await.status, 200);
}

#[tokio::test]
async fn without_a_credential_the_caller_is_told_both_ways_to_pay() {
    let app = TestApp::start().await;
    let reply = ask(&app.anonymous()).await;
    assert_eq!(reply.status, 402);
    let mut body = reply.json();
    let challenge = body["extensions"]["sign-in-with-x"].take();
    expect![[r#"
        {
          "x402Version": 2,
          "error": "Authentication required",
          "code": "AUTHENTICATION_REQUIRED",
          "resource": {
            "url": "http://testhost/api/v1/chat/completions",
            "description": "service API",
            "mimeType": "application/json"
          },
          "accepts": [
            {
              "scheme": "exact",
              "network": "eip155:8453",
              "amount": "5000000",
              "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
              "payTo": "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65",
              "maxTimeoutSeconds": 300,
              "extra": {
                "name": "USD Coin",
                "version": "2"
              }
            },
            {
              "scheme": "exact",
              "network": "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
              "amount": "5000000",
              "asset": "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
              "payTo": "GyGKxMyg1p9SsHfm15MkNUu1u9TN2JtTspcdmrtGUdse",
              "maxTimeoutSeconds": 300,
              "extra": {
                "feePayer": "GmaDrppBC7P5ARKV8g3djiwP89vz1jLK23V2GBjuAEGB"
              }
            }
          ],
          "extensions": {
            "sign-in-with-x": null
          },
          "authOptions": {
            "apiKey": {
              "header": "Authorization: Bearer YOUR_API_KEY",
              "getKey": "http://testhost",
              "docs": "http://testhost/api/v1/openapi.json"
            },
            "x402Wallet": {
              "header": "SIGN-IN-WITH-X",
              "legacyHeader": "X-Sign-In-With-X",
              "topUp": "POST /api/v1/x402/top-up",
              "docs": "http://testhost/api/v1/openapi.json"
            }
          }
        }"#]]
    .assert_eq(&format!("{body:#}"));
    let required = unheader(reply.header("payment-required"));
    assert_eq!(required["resource"], body["resource"]);
    assert_eq!(required["accepts"], body["accepts"]);
    assert_eq!(required["extensions"]["sign-in-with-x"]["info"], challenge["info"]);
}

#[tokio::test]
async fn the_challenge_names_the_host_that_was_called_and_can_be_signed() {
    let app = TestApp::start().await;
    let reply = ask(&app.anonymous().with("host", "localhost:8080")).await;
    let challenge = reply.json()["extensions"]["sign-in-with-x"].clone();
    expect![[r#"
        {
          "info": {
            "domain": "localhost:8080",
            "uri": "http://localhost:8080/api/v1/chat/completions",
            "version": "1",
            "nonce": "18e24a536348b8e3211fdb77966eded6",
            "issuedAt": "2026-11-15T12:00:00.000Z",
            "expirationTime": "2026-11-15T12:05:00.000Z",
            "statement": "Sign in to the service",
            "resources": [
              "http://localhost:8080/api/v1/chat/completions"
            ]
          },
          "supportedChains": [
            {
              "chainId": "eip155:8453",
              "type": "eip191"
            },
            {
              "chainId": "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
              "type": "ed25519"
            }
          ]
        }"#]]
    .assert_eq(&format!("{challenge:#}"));
    let wallet = TestWallet::evm(1);
    app.fund(&wallet, "5").await;
    let text = |field: &str| challenge["info"][field].as_str().unwrap().to_owned();
    let says = SignInContent {
        domain: text("domain"),
        uri: text("uri"),
        nonce: text("nonce"),
        ..wallet.sign_in_content(app.app.clock.now())
    };
    let caller = app.anonymous().with("sign-in-with-x", &wallet.sign_in_header(&says));
    assert_eq!(ask(&caller).await.status, 200);
    let elsewhere = ask(&app.anonymous().with("host", "evil.example")).await;
    assert_eq!(elsewhere.json()["resource"]["url"], "http://testhost/api/v1/chat/completions");
}

#[tokio::test]
async fn a_sign_in_counts_before_a_key_where_wallets_may_call_and_nowhere_else() {
    let app = TestApp::start().await;
    let wallet = TestWallet::evm(1);
    let both = app.signed_in(&wallet).with_bearer(app.admin_secret());
    assert_eq!(ask(&both).await.json()["code"], "PAYMENT_REQUIRED");
    let junk = app.admin().with("sign-in-with-x", "junk");
    assert_eq!(ask(&junk).await.status, 401);
    assert_eq!(junk.get("/api_keys").await.status, 200);
}

#[tokio::test]
async fn a_payment_is_not_taken_where_nothing_is_sold_for_it() {
    let app = TestApp::start().await;
    let payment = TestWallet::evm(1).payment_header(5_000_000, 1, app.app.clock.now());
    for name in ["PAYMENT-SIGNATURE", "X-PAYMENT", "X-402-Payment"] {
        let reply = ask(&app.admin().with(name, &payment)).await;
        assert_eq!(
            (reply.status, &reply.json()["code"]),
            (400, &json!("PAYMENT_HEADER_NOT_ACCEPTED"))
        );
    }
}

#[tokio::test]
async fn a_wallet_has_five_requests_under_way_and_no_more() {
    let app = TestApp::start().await;
    let (wallet, other) = (TestWallet::evm(1), TestWallet::evm(2));
    app.fund(&wallet, "5").await;
    app.fund(&other, "5").await;
    let mut body = chat();
    body["stream"] = json!(true);
    let mut streams = Vec::new();
    for _ in 0..5 {
        let stream = app.signed_in(&wallet).open("/chat/completions", &body).await;
        assert_eq!(stream.status, 200);
        streams.push(stream);
    }
    let reply = ask(&app.signed_in(&wallet)).await;
    reply.expect(expect![[r#"429 {"error":"Too many concurrent requests: a wallet may have 5 in progress. Wait for one to end.","code":"X402_CONCURRENCY_LIMIT"}"#]]);
    assert_eq!(ask(&app.signed_in(&other)).await.status, 200);
    drop(streams.pop());
    assert_eq!(ask(&app.signed_in(&wallet)).await.status, 200);
}

#[tokio::test]
async fn guessing_signatures_is_blocked_and_honest_wallets_are_not() {
    let app = TestApp::start().await;
    let junk = app.anonymous().with("sign-in-with-x", "junk");
    for _ in 0..21 {
        assert_eq!(ask(&junk).await.status, 401);
    }
    let blocked = ask(&junk).await;
    assert_eq!(blocked.status, 429, "{}", blocked.text());
    let wallet = TestWallet::evm(1);
    app.fund(&wallet, "5").await;
    assert_eq!(ask(&app.signed_in(&wallet)).await.status, 200);
    app.clock.advance_s(31);
    assert_eq!(ask(&junk).await.status, 401);
}

#[tokio::test]
async fn a_wallets_own_failures_block_that_wallet() {
    let app = TestApp::start().await;
    let (wallet, other) = (TestWallet::evm(1), TestWallet::evm(2));
    app.fund(&wallet, "5").await;
    app.fund(&other, "5").await;
    let body = json!({"model": "default_code", "messages": []});
    for _ in 0..21 {
        let reply = app.signed_in(&wallet).post("/chat/completions", &body).await;
        assert_eq!(reply.status, 400);
    }
    assert_eq!(ask(&app.signed_in(&wallet)).await.status, 429);
    assert_eq!(ask(&app.signed_in(&other)).await.status, 200);
}

pub(crate) fn unheader(header: &str) -> Value {
    serde_json::from_slice(&STANDARD.decode(header).unwrap()).unwrap()
}
