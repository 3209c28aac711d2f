//! Tests of chats with a model that has its own price in DIEM.

use ledger_core::OwnerId;
use money::{BalanceCurrency, Nano};
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::TestClient;
use testkit::upstream::{UpstreamScript, build_completion};

use crate::chat::{PATH, ask};

/// `qwen3:4b` in nanos per token: input costs less in DIEM, output the same.
const INPUT_USD: i64 = 50;
const INPUT_DIEM: i64 = 40;
const OUTPUT: i64 = 150;

/// An account with a dollar and this many nanos of DIEM.
async fn start(diem: i64) -> (TestApp, OwnerId, TestClient) {
    let app = TestApp::start().await;
    let (owner, client) = app.funded_account("both", "1").await;
    let diem = Nano::from_nanos(diem).to_string();
    app.credit(owner, BalanceCurrency::Diem, &diem).await;
    (app, owner, client)
}

/// A chat of 1,000 input and 100 output tokens.
async fn chat(app: &TestApp, client: &TestClient, more: &Value) -> Value {
    let usage = json!({"prompt_tokens": 1000, "completion_tokens": 100});
    app.upstream.queue_script(UpstreamScript::json(200, &build_completion("Hi", &usage)));
    client.post(PATH, &ask("qwen3:4b", more)).await.ok_json()
}

fn left(app: &TestApp, owner: OwnerId) -> (i64, i64) {
    let balances = app.app.ledger.balances(owner);
    (balances.usd.nanos(), balances.diem.nanos())
}

fn costs(usd: i64, diem: i64) -> Value {
    json!({"usd": Nano::from_nanos(usd).as_f64(), "diem": Nano::from_nanos(diem).as_f64()})
}

const ALL_DIEM: i64 = 1000 * INPUT_DIEM + 100 * OUTPUT;
const ALL_USD: i64 = 1000 * INPUT_USD + 100 * OUTPUT;

#[tokio::test]
async fn an_answer_paid_in_diem_costs_the_price_in_diem() {
    let (app, owner, client) = start(1_000_000_000).await;
    let answer = chat(&app, &client, &json!({})).await;
    assert_eq!(answer["cost"], costs(0, ALL_DIEM));
    assert_eq!(left(&app, owner), (1_000_000_000, 1_000_000_000 - ALL_DIEM));
    let rows = client.get("/billing/usage?sortOrder=asc").await.ok_json()["data"].clone();
    let row = |row: &Value| {
        let [currency, price, amount] =
            ["currency", "pricePerUnitUsd", "amount"].map(|it| &row[it]);
        format!("{currency} {price} {amount}")
    };
    let rows: Vec<String> = rows.as_array().unwrap().iter().map(row).collect();
    assert_eq!(rows, [r#""DIEM" 0.04 -0.00004"#, r#""DIEM" 0.15 -0.000015"#]);
}

#[tokio::test]
async fn what_diem_cannot_pay_is_paid_in_dollars_at_their_price() {
    // Pays for two fifths of the chat.
    let diem = ALL_DIEM * 2 / 5;
    let (app, owner, client) = start(diem).await;
    let answer = chat(&app, &client, &json!({})).await;
    let usd = ALL_USD * 3 / 5;
    assert_eq!(answer["cost"], costs(usd, diem));
    assert_eq!(left(&app, owner), (1_000_000_000 - usd, 0));
    let answer = chat(&app, &client, &json!({})).await;
    assert_eq!(answer["cost"], costs(ALL_USD, 0), "nothing but dollars is left");
    assert_eq!(app.app.ledger.status().written_off_nano_total, 0);
    let report = ledger::verify_books(app.app.store.as_ref()).await.unwrap();
    assert!(report.is_clean(), "{report:?}");
}

#[tokio::test]
async fn an_answer_is_as_long_as_its_diem_pay_for() {
    let app = TestApp::start().await;
    let (owner, client) = app.funded_account("few", "0.000000001").await;
    app.credit(owner, BalanceCurrency::Diem, "0.00002").await;
    let usage = json!({"prompt_tokens": 20, "completion_tokens": 5});
    app.upstream.queue_script(UpstreamScript::json(200, &build_completion("Hi", &usage)));
    client.post(PATH, &ask("qwen3:4b", &json!({}))).await.ok_json();
    let asked =
        i64::try_from(app.upstream.received_bodies()[0]["max_tokens"].as_u64().unwrap()).unwrap();
    assert!((20_000 - asked * OUTPUT) / INPUT_DIEM < 100, "all but the prompt: {asked}");
    assert!(0 < asked && asked * OUTPUT < 20_000, "and no more than there is: {asked}");
    assert_eq!(left(&app, owner).1, 20_000 - 20 * INPUT_DIEM - 5 * OUTPUT);
}
