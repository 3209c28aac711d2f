//! Tests of API keys that a wallet creates for itself.

use expect_test::expect;
use serde_json::{Value, json};
use store::owner::OwnerKind;
use store::wallet::WalletLink;
use store::write::{StoreWrite, WriteGroup};
use testkit::app::TestApp;
use testkit::client::TestReply;
use testkit::wallet::TestWallet;

const PATH: &str = "/api_keys/generate_web3_key";

async fn token(app: &TestApp) -> String {
    app.anonymous().get(PATH).await.ok_json()["data"]["token"].as_str().unwrap().to_owned()
}

fn request(wallet: &TestWallet, token: &str) -> Value {
    json!({
        "address": wallet.address(),
        "signature": wallet.sign(token),
        "token": token,
        "apiKeyType": "ADMIN",
    })
}

async fn make(app: &TestApp, body: &Value) -> TestReply {
    app.anonymous().post(PATH, body).await
}

#[tokio::test]
async fn a_wallets_key_opens_the_wallets_own_account() {
    let app = TestApp::start().await;
    let wallet = TestWallet::evm(1);
    app.fund(&wallet, "5").await;
    let token = token(&app).await;
    let made = make(&app, &request(&wallet, &token)).await.ok_json()["data"].clone();
    assert_eq!(
        (&made["apiKeyType"], &made["description"]),
        (&json!("ADMIN"), &json!("Web3 API Key"))
    );
    let caller = app.anonymous().with_bearer(made["apiKey"].as_str().unwrap());
    assert_eq!(caller.get("/billing/balance").await.ok_json()["balances"]["usd"], 5.0);
    assert_eq!(caller.get("/api_keys").await.ok_json()["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_wallet_that_never_paid_may_have_a_key_and_pays_later() {
    let app = TestApp::start().await;
    let wallet = TestWallet::evm(1);
    let token = token(&app).await;
    let made = make(&app, &request(&wallet, &token)).await.ok_json()["data"].clone();
    let caller = app.anonymous().with_bearer(made["apiKey"].as_str().unwrap());
    assert_eq!(caller.get("/billing/balance").await.ok_json()["balances"]["usd"], 0.0);
    let payment = wallet.payment_header(5_000_000, 1, app.app.clock.now());
    let payer = app.anonymous().with("payment-signature", &payment);
    assert_eq!(payer.post("/x402/top-up", &json!({})).await.status, 200);
    assert_eq!(caller.get("/billing/balance").await.ok_json()["balances"]["usd"], 5.0);
}

#[tokio::test]
async fn a_token_makes_one_key_within_its_fifteen_minutes() {
    let app = TestApp::start().await;
    let wallet = TestWallet::evm(1);
    let first = token(&app).await;
    assert_eq!(make(&app, &request(&wallet, &first)).await.status, 200);
    make(&app, &request(&wallet, &first))
        .await
        .expect(expect![[r#"400 {"error":"JWT has already been used: get another one"}"#]]);
    let second = token(&app).await;
    app.clock.advance_s(15 * 60);
    make(&app, &request(&wallet, &second))
        .await
        .expect(expect![[r#"400 {"error":"JWT has expired"}"#]]);
}

#[tokio::test]
async fn each_fault_is_told_apart() {
    let app = TestApp::start().await;
    let (wallet, other) = (TestWallet::evm(1), TestWallet::evm(2));
    let token = token(&app).await;
    let good = request(&wallet, &token);
    let change = |field: &str, value: &str| {
        let mut body = good.clone();
        body[field] = json!(value);
        body
    };
    let changed = [
        change("address", "0x12"),
        change("address", &other.address()),
        change("token", "a.b.c"),
        change("token", "nonsense"),
        change("signature", "0x12"),
        change("signature", "nonsense"),
    ];
    let mut told = Vec::new();
    for body in &changed {
        let reply = make(&app, body).await;
        assert_eq!(reply.status, 400);
        told.push(reply.json()["error"].as_str().unwrap().to_owned());
    }
    expect![[r#"
        Invalid wallet address
        Wallet signature does not match
        JWT is malformed
        JWT is malformed
        Wallet signature does not match
        Could not verify wallet signature"#]]
    .assert_eq(&told.join("\n"));
    assert_eq!(make(&app, &good).await.status, 200, "none of these used the token up");
}

#[tokio::test]
async fn a_linked_wallet_makes_inference_keys_only() {
    let app = TestApp::start().await;
    let wallet = TestWallet::evm(1);
    let link = WalletLink {
        kind: OwnerKind::Evm,
        address: wallet.name(),
        owner: app.owner(),
        at: app.app.clock.now(),
    };
    app.app.store.commit(WriteGroup::from_write(StoreWrite::LinkWallet(link))).await.unwrap();
    let admin = request(&wallet, &token(&app).await);
    make(&app, &admin).await.expect(expect![[
        r#"400 {"error":"This wallet is linked to an account and can only create INFERENCE keys"}"#
    ]]);
    let mut inference = request(&wallet, &token(&app).await);
    inference["apiKeyType"] = json!("INFERENCE");
    assert_eq!(make(&app, &inference).await.status, 200);
}

#[tokio::test]
async fn nobody_comes_in_by_a_frozen_account() {
    let app = TestApp::start().await;
    let wallet = TestWallet::evm(1);
    let owner = app.fund(&wallet, "5").await;
    let made = make(&app, &request(&wallet, &token(&app).await)).await.ok_json()["data"].clone();
    let caller = app.anonymous().with_bearer(made["apiKey"].as_str().unwrap());
    let freeze = async |since| {
        app.app
            .store
            .commit(WriteGroup::from_write(StoreWrite::Freeze { owner, since }))
            .await
            .unwrap();
        app.app.keys.forget_all();
    };
    freeze(Some(app.app.clock.now())).await;
    let chat = json!({"model": "kimi-k3", "messages": [{"role": "user", "content": "Hi"}]});
    for refused in [
        caller.get("/billing/balance").await,
        caller.post("/chat/completions", &chat).await,
        app.signed_in(&wallet).post("/chat/completions", &chat).await,
        make(&app, &request(&wallet, &token(&app).await)).await,
    ] {
        assert_eq!(refused.status, 401, "{}", refused.text());
        assert!(refused.text().contains("frozen"), "{}", refused.text());
    }
    freeze(None).await;
    assert_eq!(caller.get("/billing/balance").await.ok_json()["balances"]["usd"], 5.0);
    assert_eq!(app.signed_in(&wallet).post("/chat/completions", &chat).await.status, 200);
}

#[tokio::test]
async fn a_token_that_names_a_wallet_makes_a_key_of_no_other() {
    let app = TestApp::start().await;
    let (named, other) = (TestWallet::evm(1), TestWallet::evm(2));
    let path = format!("{PATH}?address={}", named.address());
    let token =
        app.anonymous().get(&path).await.ok_json()["data"]["token"].as_str().unwrap().to_owned();
    make(&app, &request(&other, &token))
        .await
        .expect(expect![[r#"400 {"error":"JWT claims are invalid"}"#]]);
    assert_eq!(make(&app, &request(&named, &token)).await.status, 200);
}
