//! Tests of topping up a wallet, and of its balance and history.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use expect_test::expect;
use serde_json::{Value, json};
use store::claim::ClaimId;
use store::wallet::WalletLink;
use store::write::{StoreWrite, WriteGroup};
use testkit::app::TestApp;
use testkit::chain::ChainBehaviour;
use testkit::client::TestReply;
use testkit::wallet::TestWallet;
use wallet::{EvmTerms, UnverifiedPayment, WalletVerdict, verify_payment};

use crate::sign_in::unheader;

const TOP_UP: &str = "/x402/top-up";

async fn pay(app: &TestApp, payment: &str) -> TestReply {
    app.anonymous().with("payment-signature", payment).post(TOP_UP, &json!({})).await
}

#[tokio::test]
async fn without_a_payment_the_body_says_how_to_pay_and_the_header_says_more() {
    let app = TestApp::start().await;
    let reply = app.anonymous().post(TOP_UP, &json!({})).await;
    assert_eq!(reply.status, 402);
    expect![[r#"
        {
          "x402Version": 2,
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
          ]
        }"#]]
    .assert_eq(&format!("{:#}", reply.json()));
    let required = unheader(reply.header("payment-required"));
    assert_eq!(required["accepts"], reply.json()["accepts"]);
    assert_eq!(required["resource"]["url"], "http://testhost/api/v1/x402/top-up");
    assert_eq!(required["extensions"], Value::Null, "there is nothing to sign in to");
}

#[tokio::test]
async fn a_payment_is_credited_once_and_told_the_same_again() {
    let app = TestApp::start().await;
    let wallet = TestWallet::evm(1);
    let payment = wallet.payment_header(7_500_000, 1, app.app.clock.now());
    let reply = pay(&app, &payment).await;
    reply.expect(expect![[r#"200 {"success":true,"data":{"walletAddress":"0x1a642f0e3c3af545e7acbd38b07251b3990914f1","amountCredited":7.5,"newBalance":7.5,"paymentId":"pay_9b0ebe6f81db884cac7634a16b3e1216f92e9e2a"}}"#]]);
    let result = unheader(reply.header("payment-response"));
    assert_eq!(result["success"], true);
    assert_eq!(result["network"], "eip155:8453");
    assert_eq!(result["payer"], wallet.name());
    assert_eq!(reply.header("x-payment-response"), reply.header("payment-response"));
    for name in ["x-payment", "x-402-payment"] {
        let again = app.anonymous().with(name, &payment).post(TOP_UP, &json!({})).await;
        assert_eq!(again.ok_json(), reply.json());
    }
    let balance = app.signed_in(&wallet).get(&format!("/x402/balance/{}", wallet.address())).await;
    assert_eq!(balance.ok_json()["data"]["balanceUsd"], 7.5);
}

#[tokio::test]
async fn ten_posts_of_one_payment_at_once_credit_it_once() {
    let app = TestApp::start().await;
    let wallet = TestWallet::evm(1);
    let payment = wallet.payment_header(5_000_000, 1, app.app.clock.now());
    let posts = (0..10).map(|_| pay(&app, &payment));
    for reply in futures_util::future::join_all(posts).await {
        assert_eq!(reply.ok_json()["data"]["newBalance"], 5.0);
    }
}

#[tokio::test]
async fn a_payment_that_is_refused_says_why_in_the_protocols_words() {
    let app = TestApp::start().await;
    let wallet = TestWallet::evm(1);
    let now = app.app.clock.now();
    let reply = pay(&app, "junk").await;
    reply.expect(expect![[r#"400 {"error":"INVALID_PAYMENT_FORMAT","message":"Invalid payment header: send the payment payload as base64 of a JSON object, at most 16 KiB","details":{"reason":"invalid_payload"}}"#]]);
    let reply = pay(&app, &wallet.payment_header(4_999_999, 1, now)).await;
    reply.expect(expect![[r#"400 {"error":"AMOUNT_TOO_LOW","message":"The payment is too low: pay at least 5 USD","details":{"reason":"invalid_exact_evm_payload_authorization_value_mismatch"}}"#]]);
    app.chain.set_behaviour(ChainBehaviour::Poor);
    let reply = pay(&app, &wallet.payment_header(5_000_000, 2, now)).await;
    reply.expect(expect![[r#"400 {"error":"PAYMENT_VERIFICATION_FAILED","message":"The payer has too little","details":{"reason":"insufficient_funds"}}"#]]);
    let result = unheader(reply.header("payment-response"));
    assert_eq!(result["success"], false);
    assert_eq!(result["errorReason"], "insufficient_funds");
    assert_eq!(result["network"], "eip155:8453");
    app.chain.set_behaviour(ChainBehaviour::Broke);
    let reply = pay(&app, &wallet.payment_header(5_000_000, 3, now)).await;
    reply.expect(expect![[r#"503 {"error":"SETTLEMENT_FAILED","message":"The payment could not be settled and nothing was charged: send it again in a moment","details":{"reason":"unexpected_settle_error"}}"#]]);
    assert_eq!(reply.header("retry-after"), "5");
}

#[tokio::test]
async fn a_payment_that_is_signed_for_another_domain_is_refused_and_not_claimed() {
    let app = TestApp::start().await;
    let (wallet, now) = (TestWallet::evm(1), app.app.clock.now());
    let ours = testkit::chain::payment_terms().evm.unwrap();
    let others = [
        EvmTerms { chain_id: 84532, ..ours.clone() },
        EvmTerms { asset_name: "USDC".to_owned(), ..ours.clone() },
        EvmTerms { asset_version: "1".to_owned(), ..ours.clone() },
        EvmTerms { asset: ours.pay_to, ..ours.clone() },
    ];
    let honest = wallet.payment_header(5_000_000, 1, now);
    for signed in others {
        let payment = wallet.payment_header_under(&signed, 5_000_000, 1, now);
        let reply = pay(&app, &payment).await;
        reply.expect(expect![[r#"400 {"error":"X402_INVALID_PAYMENT","message":"The signature is not the payer's, or is not 65 bytes with a low s and v 27 or 28","details":{"reason":"invalid_exact_evm_payload_signature"}}"#]]);
        let result = unheader(reply.header("payment-response"));
        assert_eq!(result["errorReason"], "invalid_exact_evm_payload_signature");
        expect_no_claim(&app, &honest).await;
    }
    assert_eq!(
        pay(&app, &honest).await.ok_json()["data"]["newBalance"],
        5.0,
        "the nonce is unused"
    );
}

#[tokio::test]
async fn a_payment_that_names_another_chain_or_token_is_told_so_and_not_claimed() {
    let app = TestApp::start().await;
    let (wallet, now) = (TestWallet::evm(1), app.app.clock.now());
    let cases = [
        (
            "network",
            "eip155:84532",
            expect![[
                r#"400 {"error":"UNSUPPORTED_NETWORK","message":"Unsupported payment network: pay on one of the networks in `accepts`","details":{"reason":"invalid_network"}}"#
            ]],
        ),
        (
            "asset",
            "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
            expect![[
                r#"400 {"error":"UNSUPPORTED_TOKEN","message":"Unsupported token: pay with the `asset` in `accepts`","details":{"reason":"invalid_payment_requirements"}}"#
            ]],
        ),
        (
            "payTo",
            "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
            expect![[
                r#"400 {"error":"INVALID_PAYMENT_RECIPIENT","message":"The recipient is wrong: pay the `payTo` in `accepts`","details":{"reason":"invalid_payment_requirements"}}"#
            ]],
        ),
        (
            "scheme",
            "upto",
            expect![[
                r#"400 {"error":"UNSUPPORTED_SCHEME","message":"Unsupported payment scheme: only `exact` is accepted","details":{"reason":"unsupported_scheme"}}"#
            ]],
        ),
    ];
    for (field, value, expected) in cases {
        let mut payment = unheader(&wallet.payment_header(5_000_000, 1, now));
        payment["accepted"][field] = json!(value);
        let payment = STANDARD.encode(payment.to_string());
        pay(&app, &payment).await.expect(expected);
        expect_no_claim(&app, &wallet.payment_header(5_000_000, 1, now)).await;
    }
}

/// Checks that there is no row in any state for a payment.
async fn expect_no_claim(app: &TestApp, honest: &str) {
    let (terms, now) = (testkit::chain::payment_terms(), app.app.clock.now());
    let payment = UnverifiedPayment::decode(honest.as_bytes()).unwrap();
    let id = match verify_payment(&terms, &payment, now).unwrap() {
        WalletVerdict::Verified(payment) => payment.id,
        WalletVerdict::NeedsContractCheck(payment) => payment.confirmed_by_contract().id,
    };
    let claim = app.app.store.claim(ClaimId(id.bytes())).await.unwrap();
    assert_eq!(claim, None);
    assert_eq!(app.app.store.unfinished_claims().await.unwrap(), []);
    assert_eq!(app.app.store.credited_claims().await.unwrap(), []);
}

#[tokio::test]
async fn a_payment_that_was_sent_and_not_seen_again_is_pending_and_not_asked_for_anew() {
    let app = TestApp::start().await;
    let wallet = TestWallet::evm(1);
    let payment = wallet.payment_header(5_000_000, 1, app.app.clock.now());
    app.chain.set_behaviour(ChainBehaviour::Silent);
    let reply = pay(&app, &payment).await;
    reply.expect(expect![[r#"504 {"error":"SETTLEMENT_TIMEOUT","message":"The payment was sent and is not confirmed yet. It will be credited once it is: send the same payment again to see the result, and do not sign a new one","details":{"reason":"settlement_pending","transaction":"0x5e771ed"}}"#]]);
    app.chain.set_behaviour(ChainBehaviour::Willing);
    assert_eq!(pay(&app, &payment).await.ok_json()["data"]["newBalance"], 5.0);
}

#[tokio::test]
async fn where_payments_are_not_taken_a_top_up_says_so() {
    let mut app = TestApp::start().await;
    app.refuse_payments();
    let payment = TestWallet::evm(1).payment_header(5_000_000, 1, app.app.clock.now());
    assert_eq!(pay(&app, &payment).await.status, 503, "and takes no payment");
    let reply = app.anonymous().post(TOP_UP, &json!({})).await;
    reply.expect(expect![[r#"503 {"error":"X402_NOT_CONFIGURED","message":"This service does not accept wallet payments. Use an API key."}"#]]);
}

#[tokio::test]
async fn ten_top_ups_a_minute_are_allowed_from_one_address() {
    let app = TestApp::start().await;
    for _ in 0..10 {
        assert_eq!(app.anonymous().post(TOP_UP, &json!({})).await.status, 402);
    }
    let reply = app.anonymous().post(TOP_UP, &json!({})).await;
    assert_eq!(reply.status, 429, "{}", reply.text());
    assert!(reply.json()["error"].is_string());
    assert_eq!(reply.json().get("message"), None, "429 is a standard error here");
}

#[tokio::test]
async fn a_wallet_reads_its_own_balance_and_no_other() {
    let app = TestApp::start().await;
    let (wallet, other) = (TestWallet::evm(1), TestWallet::solana(2));
    app.fund(&wallet, "0.05").await;
    let path = format!("/x402/balance/{}", wallet.address());
    app.signed_in(&wallet).get(&path).await.expect(expect![[r#"200 {"success":true,"data":{"walletAddress":"0x1a642f0e3c3af545e7acbd38b07251b3990914f1","balanceUsd":0.05,"canConsume":false,"minimumTopUpUsd":5,"suggestedTopUpUsd":10}}"#]]);
    app.signed_in(&other).get(&path).await.expect(expect![[r#"403 {"error":"X402_WALLET_MISMATCH","message":"You can only access resources for your own wallet"}"#]]);
    let own = format!("/x402/balance/{}", other.address());
    assert_eq!(app.signed_in(&other).get(&own).await.ok_json()["data"]["balanceUsd"], 0.0);
    let junk = app.anonymous().with("sign-in-with-x", "junk").get(&path).await;
    junk.expect(expect![[
        r#"401 {"error":"X402_INVALID_SIGN_IN","message":"Invalid Sign-in-with-x signature"}"#
    ]]);
    let malformed = app.signed_in(&wallet).get("/x402/balance/nobody").await;
    assert_eq!(malformed.status, 400);
    assert!(malformed.json()["details"]["walletAddress"].is_object(), "{}", malformed.text());

    let path = format!("/x402/transactions/{}", wallet.address());
    app.signed_in(&other).get(&path).await.expect(expect![[r#"403 {"error":"X402_WALLET_MISMATCH","message":"You can only access resources for your own wallet"}"#]]);
    let junk = app.anonymous().with("sign-in-with-x", "junk").get(&path).await;
    junk.expect(expect![[
        r#"401 {"error":"X402_INVALID_SIGN_IN","message":"Invalid Sign-in-with-x signature"}"#
    ]]);
    let malformed = app.signed_in(&wallet).get(&format!("{path}?limit=0")).await;
    assert!(malformed.json()["details"]["limit"].is_object(), "{}", malformed.text());
}

#[tokio::test]
async fn a_reader_without_a_sign_in_is_given_a_challenge_and_nothing_to_pay() {
    let app = TestApp::start().await;
    let wallet = TestWallet::evm(1);
    for kind in ["balance", "transactions"] {
        for caller in [app.anonymous(), app.admin()] {
            let reply = caller.get(&format!("/x402/{kind}/{}", wallet.address())).await;
            assert_eq!(reply.status, 402, "{}", reply.text());
            assert_eq!(reply.json()["accepts"], json!([]));
            let challenge = &reply.json()["extensions"]["sign-in-with-x"];
            assert_eq!(challenge["info"]["domain"], "testhost");
        }
    }
}

#[tokio::test]
async fn readers_are_limited_by_wallet() {
    let app = TestApp::start().await;
    let (wallet, other) = (TestWallet::evm(1), TestWallet::evm(2));
    for (kind, allowed) in [("balance", 30), ("transactions", 20)] {
        let path = |wallet: &TestWallet| format!("/x402/{kind}/{}", wallet.address());
        for _ in 0..allowed {
            assert_eq!(app.signed_in(&wallet).get(&path(&wallet)).await.status, 200);
        }
        assert_eq!(app.signed_in(&wallet).get(&path(&wallet)).await.status, 429);
        assert_eq!(app.signed_in(&other).get(&path(&other)).await.status, 200);
    }
}

#[tokio::test]
async fn transactions_tell_what_came_and_what_went() {
    let app = TestApp::start().await;
    let wallet = TestWallet::evm(1);
    let payment = wallet.payment_header(5_000_000, 1, app.app.clock.now());
    assert_eq!(pay(&app, &payment).await.status, 200);
    app.clock.advance_s(1);
    let body = json!({"model": "default_code", "messages": [{"role": "user", "content": "Hi"}]});
    let answer = app.signed_in(&wallet).post("/chat/completions", &body).await;
    assert_eq!(answer.status, 200);
    let left: f64 = answer.header("x-balance-remaining").parse().unwrap();

    let path = format!("/x402/transactions/{}", wallet.address());
    let list = app.signed_in(&wallet).get(&path).await.ok_json()["data"].clone();
    assert_eq!(list["walletAddress"], wallet.name());
    assert_eq!(list["currentBalance"], left);
    assert_eq!(list["pagination"], json!({"limit": 50, "offset": 0, "hasMore": false}));
    let [charge, top_up] = list["transactions"].as_array().unwrap().as_slice() else {
        panic!("{list}");
    };
    assert_eq!((&charge["type"], &charge["balanceAfter"]), (&json!("CHARGE"), &json!(left)));
    assert_eq!(charge["requestId"], answer.header("x-request-id"));
    assert!(charge["modelId"].is_string() && charge["amount"].as_f64().unwrap() < 0.0);
    assert_eq!((&top_up["type"], &top_up["amount"]), (&json!("TOP_UP"), &json!(5)));
    assert_eq!((&top_up["requestId"], &top_up["balanceAfter"]), (&Value::Null, &json!(5)));
    assert!(top_up["id"].as_str().unwrap().starts_with("ledger_"));

    let page = app.signed_in(&wallet).get(&format!("{path}?limit=1&offset=1")).await.ok_json();
    assert_eq!(page["data"]["transactions"], json!([top_up]));
    let first = app.signed_in(&wallet).get(&format!("{path}?limit=1")).await.ok_json();
    assert_eq!(first["data"]["pagination"]["hasMore"], true);
    assert_eq!(app.signed_in(&wallet).get(&format!("{path}?limit=101")).await.status, 400);
}

#[tokio::test]
async fn a_linked_wallet_spends_and_tops_up_the_balance_of_its_account() {
    let app = TestApp::start().await;
    let wallet = TestWallet::evm(1);
    let link = WalletLink {
        kind: store::owner::OwnerKind::Evm,
        address: wallet.name(),
        owner: app.owner(),
        at: app.app.clock.now(),
    };
    app.app.store.commit(WriteGroup::from_write(StoreWrite::LinkWallet(link))).await.unwrap();
    let path = format!("/x402/balance/{}", wallet.address());
    let data = app.signed_in(&wallet).get(&path).await.ok_json()["data"].clone();
    assert_eq!((&data["balanceUsd"], &data["diemBalanceUsd"]), (&json!(10), &json!(0.0)));
    let payment = wallet.payment_header(5_000_000, 1, app.app.clock.now());
    assert_eq!(pay(&app, &payment).await.ok_json()["data"]["newBalance"], 15.0);
    assert_eq!(app.app.ledger.balances(app.owner()).usd.as_f64(), 15.0);
}
