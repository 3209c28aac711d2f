//! Tests of `/billing`: the balance and the usage.

use expect_test::expect;
use serde_json::json;
use testkit::app::TestApp;

#[tokio::test]
async fn the_balance_is_what_was_credited_less_what_was_charged() {
    let app = TestApp::start().await;
    app.admin().get("/billing/balance").await.expect(expect![[r#"200 {"canConsume":true,"consumptionCurrency":"USD","balances":{"diem":0.0,"usd":10.0,"bundledCredits":0.0,"earnedCredits":0.0,"vcu":0.0},"diemEpochAllocation":0.0}"#]]);
    app.charge("1.25").await;
    let balance = app.admin().get("/billing/balance").await.ok_json();
    assert_eq!(balance["balances"]["usd"], 8.75);
    assert_eq!(app.admin().get("/billing/balance").await.header("x-service-balance-usd"), "8.75");
}

#[tokio::test]
async fn usage_lists_each_charge_newest_first() {
    let app = TestApp::start().await;
    app.charge("0.10").await;
    app.clock.advance_s(60);
    app.charge("0.20").await;
    let reply = app.admin().get("/billing/usage?limit=1").await;
    let page = reply.ok_json();
    assert_eq!(page["pagination"], json!({"limit": 1, "page": 1, "total": 2, "totalPages": 2}));
    assert_eq!(page["data"][0]["amount"], -0.2);
    assert_eq!(page["data"][0]["currency"], "USD");
    assert_eq!(reply.header("x-pagination-total-pages"), "2");
    let second = app.admin().get("/billing/usage?limit=1&page=2").await.ok_json();
    assert_eq!(second["data"][0]["amount"], -0.1);
    let oldest = app.admin().get("/billing/usage?sortOrder=asc").await.ok_json();
    assert_eq!(oldest["data"][0]["amount"], -0.1);
    let none = app.admin().get("/billing/usage?currency=DIEM").await.ok_json();
    assert_eq!(none["data"], json!([]));
}

#[tokio::test]
async fn usage_comes_as_csv_for_those_who_ask() {
    let app = TestApp::start().await;
    app.charge("0.10").await;
    let reply = app.admin().with("accept", "text/csv").get("/billing/usage").await;
    assert_eq!(reply.header("content-disposition"), "attachment; filename=\"billing_usage.csv\"");
    let text = reply.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[0].starts_with("timestamp,sku,pricePerUnitUsd,units,amount,currency"));
    assert!(lines[1].contains(",-0.1,USD,"), "{text}");
}

#[tokio::test]
async fn the_history_reads_on_by_cursor_and_misses_nothing() {
    let app = TestApp::start().await;
    for _ in 0..25 {
        app.charge("0.01").await;
        app.clock.advance_s(1);
    }
    let mut seen = 0;
    let mut path = "/billing/usage-history?pageSize=10".to_owned();
    loop {
        let page = app.admin().get(&path).await.ok_json();
        seen += page["data"].as_array().unwrap().len();
        let Some(cursor) = page["nextCursor"].as_str() else { break };
        path = format!("/billing/usage-history?cursor={cursor}");
    }
    assert_eq!(seen, 25);
    app.admin().get("/billing/usage-history?cursor=nonsense").await.expect(expect![[r#"400 {"error":"Invalid request parameters","details":{"_errors":[],"cursor":{"_errors":["Must be the nextCursor of an earlier answer"]}},"issues":[{"code":"custom","path":["cursor"],"message":"Must be the nextCursor of an earlier answer"}]}"#]]);
}

#[tokio::test]
async fn analytics_sum_by_day_model_and_key() {
    let app = TestApp::start().await;
    app.charge("0.10").await;
    app.clock.advance_s(86_400);
    app.charge("0.20").await;
    let analytics = app.admin().get("/billing/usage-analytics?lookback=2d").await.ok_json();
    assert_eq!(analytics["byDate"].as_array().unwrap().len(), 2);
    assert_eq!(analytics["byDate"][1]["USD"], 0.2);
    assert_eq!(analytics["byModel"][0]["totalUsd"], 0.3);
    assert_eq!(analytics["byKey"][0]["totalUsd"], 0.3);
    assert_eq!(analytics["byKey"][0]["description"], "first");
}

#[tokio::test]
async fn spending_shows_on_the_key_that_spent() {
    let app = TestApp::start().await;
    app.charge("0.125").await;
    let list = app.admin().get("/api_keys").await.ok_json();
    assert_eq!(list["data"][0]["usage"]["trailingSevenDays"]["usd"], "0.1250");
}

#[tokio::test]
async fn bad_dates_are_refused_at_their_field() {
    let app = TestApp::start().await;
    let path = "/billing/usage?startDate=yesterday&endDate=never";
    app.admin().get(path).await.expect(expect![[r#"400 {"error":"Invalid request parameters","details":{"_errors":[],"startDate":{"_errors":["Must be a date and time such as 2026-01-31T12:00:00Z"]},"endDate":{"_errors":["Must be a date and time such as 2026-01-31T12:00:00Z"]}},"issues":[{"code":"custom","path":["startDate"],"message":"Must be a date and time such as 2026-01-31T12:00:00Z"},{"code":"custom","path":["endDate"],"message":"Must be a date and time such as 2026-01-31T12:00:00Z"}]}"#]]);
    let path = "/billing/usage?startDate=2026-02-01&endDate=2026-01-01";
    assert_eq!(app.admin().get(path).await.status, 400);
}
