//! Tests of the JSON-RPC proxy: methods, costs and errors.

use axum::body::Body;
use axum::http::Method;
use expect_test::{Expect, expect};
use ledger::{ChargeLine, WorkCharge};
use ledger_core::HoldRange;
use money::{Price, PriceUnits, UnitRate};
use serde_json::{Value, json};
use store::write::{StoreWrite, WriteGroup};
use testkit::app::TestApp;
use testkit::client::{TestClient, TestReply};
use testkit::node::{StubNode, answer_each_call, build_chains, build_error, build_result};

pub(crate) const BASE: &str = "/crypto/rpc/base-mainnet";

pub(crate) fn call(method: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": []})
}

/// Sends a body unchanged.
pub(crate) async fn send(client: &TestClient, path: &str, body: &str) -> TestReply {
    client.send(Method::POST, path, Body::from(body.to_owned())).await
}

#[tokio::test]
async fn anyone_can_list_the_networks_that_have_nodes() {
    let app = TestApp::start().await;
    app.anonymous().get("/crypto/rpc/networks").await.expect(expect![[
        r#"200 {"networks":["base-mainnet","ethereum-mainnet","starknet-mainnet","zksync-mainnet"]}"#
    ]]);
}

#[tokio::test]
async fn a_call_is_answered_and_its_cost_is_told() {
    let app = TestApp::start().await;
    let reply = app.admin().post(BASE, &call("eth_blockNumber")).await;
    reply.expect(expect![[r#"200 {"jsonrpc":"2.0","id":1,"result":"eth_blockNumber"}"#]]);
    assert_eq!(reply.header("content-type"), "application/json");
    assert_eq!(reply.header("x-service-rpc-credits"), "20");
    assert_eq!(reply.header("x-service-rpc-cost-usd"), "0.00001250");
    assert_eq!(reply.header("x-request-id").len(), 32);
    assert_eq!(reply.header("x-balance-remaining"), "9.9999875");
    assert_eq!(reply.header("x-ratelimit-limit-requests"), "100");
    for absent in ["x-ratelimit-limit", "idempotent-replayed"] {
        assert_eq!(reply.header(absent), "", "{absent}");
    }
    assert_eq!(app.verify_spent().await.to_string(), "0.0000125");
}

#[tokio::test]
async fn a_charge_is_in_the_usage_under_the_network() {
    let app = TestApp::start().await;
    app.admin().post("/crypto/rpc/zksync-mainnet", &call("eth_blockNumber")).await.ok_json();
    let usage = app.admin().get("/billing/usage").await.ok_json();
    let row = &usage["data"][0];
    assert_eq!(row["sku"], "crypto-rpc-zksync-mainnet");
    assert_eq!(row["units"], 30.0);
    assert_eq!(row["pricePerUnitUsd"], 6.25e-7);
    assert_eq!(row["amount"], -0.00001875);
    assert_eq!(row["notes"], "API Crypto RPC");
}

#[tokio::test]
async fn ids_and_order_of_a_batch_come_back_byte_for_byte() {
    let app = TestApp::start().await;
    app.node.set_script(|calls| {
        let Value::Array(mut answers) = answer_each_call(calls, build_result) else {
            panic!("a batch")
        };
        answers.reverse();
        (200, Value::Array(answers))
    });
    let body = r#"[{"id":18446744073709551617,"method":"eth_call"},{"id":"a","method":"eth_gasPrice"},{"id":"a","method":"eth_syncing"}]"#;
    let reply = send(&app.admin(), BASE, body).await;
    reply.expect(expect![[r#"200 [{"jsonrpc":"2.0","id":18446744073709551617,"result":"eth_call"},{"jsonrpc":"2.0","id":"a","result":"eth_gasPrice"},{"jsonrpc":"2.0","id":"a","result":"eth_syncing"}]"#]]);
    assert_eq!(reply.header("x-service-rpc-credits"), "60");
}

#[tokio::test]
async fn an_error_item_costs_five_credits_and_tiers_multiply() {
    let app = TestApp::start().await;
    app.node.set_script(|calls| {
        let answer = |call: &Value| match call["method"].as_str() {
            Some("eth_getBalance") => build_error(call, -32602, "bad params"),
            _ => build_result(call),
        };
        (200, answer_each_call(calls, answer))
    });
    let check = async |methods: &[&str], credits: &str, cost: &str| {
        let calls: Vec<Value> = methods.iter().map(|method| call(method)).collect();
        let reply = app.admin().post(BASE, &Value::Array(calls)).await;
        reply.ok_json();
        assert_eq!(reply.header("x-service-rpc-credits"), credits, "{methods:?}");
        assert_eq!(reply.header("x-service-rpc-cost-usd"), cost, "{methods:?}");
    };
    check(&["eth_gasPrice", "eth_getBalance"], "25", "0.00001562").await;
    check(&["eth_getBalance"], "5", "0.00000312").await;
    check(&["debug_traceTransaction"], "40", "0.00002500").await;
    check(&["trace_replayTransaction"], "80", "0.00005000").await;
    assert_eq!(
        app.verify_spent().await.nanos(),
        (25 + 5 + 40 + 80) * 625,
        "exact, not as displayed"
    );
}

#[tokio::test]
async fn a_node_that_refuses_costs_five_and_one_that_fails_costs_nothing() {
    let app = TestApp::start().await;
    app.node.set_script(|_| (400, json!("no")));
    let refused = app.admin().post(BASE, &call("eth_call")).await;
    assert_eq!((refused.status, refused.header("x-service-rpc-credits")), (200, "5"));
    for status in [402, 429, 500, 503] {
        app.node.set_script(move |_| (status, json!("no")));
        app.admin().post(BASE, &call("eth_call")).await.expect(expect![[
            r#"503 {"error":"No node of base-mainnet could answer; try again shortly"}"#
        ]]);
    }
    assert_eq!(app.verify_spent().await.nanos(), 5 * 625);
}

#[tokio::test]
async fn a_network_without_nodes_is_unavailable_and_an_unknown_one_is_refused() {
    let app = TestApp::start().await;
    app.admin()
        .post("/crypto/rpc/bsc-mainnet", &call("eth_call"))
        .await
        .expect(expect![[r#"503 {"error":"bsc-mainnet has no nodes configured on this server"}"#]]);
    app.admin().post("/crypto/rpc/moon", &call("eth_call")).await.expect(expect![[r#"400 {"error":"Unsupported RPC network: \"moon\". GET /api/v1/crypto/rpc/networks lists those that are served."}"#]]);
    assert!(app.node.received_requests().is_empty());
}

/// Checks that a call is refused with this message, without a request to a node.
async fn refused(path: &str, body: &str, expected: Expect) {
    let app = TestApp::start().await;
    send(&app.admin(), path, body).await.expect(expected);
    assert!(app.node.received_requests().is_empty());
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn every_method_that_is_not_served_is_named() {
    let body = r#"[{"id":1,"method":"eth_call"},{"id":2,"method":"eth_sign"},{"id":3,"method":"eth_newFilter"},
        {"id":4,"method":"eth_subscribe"},{"id":5,"method":"admin_peers"},{"id":6,"method":"starknet_call"}]"#;
    refused(BASE, body, expect![[r#"400 {"error":"Unsupported methods: eth_sign (the nodes have no keys; sign locally and use eth_sendRawTransaction), eth_newFilter (filters exist on one node only; use eth_getLogs instead), eth_subscribe (subscriptions need a WebSocket; poll over HTTP instead), admin_peers (not on the list of served methods), starknet_call (served only on starknet)"}"#]]).await;
    let body = r#"{"id":1,"method":"eth_call"}"#;
    refused(
        "/crypto/rpc/starknet-mainnet",
        body,
        expect![[
            r#"400 {"error":"Unsupported methods: eth_call (served only on every EVM chain)"}"#
        ]],
    )
    .await;
}

#[tokio::test]
async fn every_fault_of_a_body_is_told_at_its_place() {
    refused(BASE, "{", expect![[r#"400 {"error":"Invalid JSON request"}"#]]).await;
    refused(BASE, "", expect![[r#"400 {"error":"Invalid JSON request"}"#]]).await;
    refused(BASE, "[]", expect![[r#"400 {"error":"Invalid request parameters","details":{"_errors":["The batch is empty: send 1 to 100 calls"]},"issues":[{"code":"custom","path":[],"message":"The batch is empty: send 1 to 100 calls"}]}"#]]).await;
    refused(BASE, r#"[{"id":1,"method":"eth_call"},{"method":1}]"#, expect![[r#"400 {"error":"Invalid request parameters","details":{"_errors":[],"1":{"_errors":[],"id":{"_errors":["Required in a batch"]},"method":{"_errors":["Expected a string"]}}},"issues":[{"code":"custom","path":[1,"id"],"message":"Required in a batch"},{"code":"custom","path":[1,"method"],"message":"Expected a string"}]}"#]]).await;
    let many = Value::Array(vec![call("eth_call"); 101]).to_string();
    refused(BASE, &many, expect![[r#"400 {"error":"Invalid request parameters","details":{"_errors":["The batch has 101 calls: send at most 100"]},"issues":[{"code":"custom","path":[],"message":"The batch has 101 calls: send at most 100"}]}"#]]).await;
}

#[tokio::test]
async fn the_whole_batch_must_be_paid_for_before_it_is_sent() {
    let app = TestApp::start().await;
    let (_, client) = app.funded_account("poor", "0.00002").await;
    let batch = json!([call("eth_call"), call("eth_gasPrice")]);
    let reply = client.post(BASE, &batch).await;
    assert_eq!((reply.status, reply.json()["code"].as_str()), (402, Some("INSUFFICIENT_BALANCE")));
    assert!(app.node.received_requests().is_empty());
    client.post(BASE, &call("eth_call")).await.ok_json();
    let anonymous = app.anonymous().post(BASE, &call("eth_call")).await;
    assert_eq!(anonymous.status, 402);
    assert_eq!(anonymous.json()["code"], "AUTHENTICATION_REQUIRED");
}

#[tokio::test]
async fn a_read_goes_on_to_the_next_node_and_the_caller_does_not_notice() {
    let app = TestApp::start().await;
    let bad = StubNode::start().await;
    bad.set_script(|_| (500, json!("no")));
    let urls = [bad.url.as_str(), app.node.url.as_str()];
    let clock = app.app.clock.clone();
    app.app.proxy.chains.replace(build_chains(&[("base-mainnet", &urls)], clock));
    app.admin().post(BASE, &call("eth_call")).await.ok_json();
    assert_eq!((bad.received_requests().len(), app.node.received_requests().len()), (1, 1));
}

#[tokio::test]
async fn results_that_never_change_are_asked_for_once_and_billed_each_time() {
    let app = TestApp::start().await;
    for cached in ["", "1"] {
        let reply = app.admin().post(BASE, &call("eth_chainId")).await;
        reply.expect(expect![[r#"200 {"jsonrpc":"2.0","id":1,"result":"eth_chainId"}"#]]);
        assert_eq!(reply.header("x-service-rpc-cached"), cached);
        assert_eq!(reply.header("x-service-rpc-credits"), "20");
    }
    assert_eq!(app.node.received_requests().len(), 1);
    app.node.set_script(|calls| {
        (200, answer_each_call(calls, |call| json!({"id": call["id"], "result": null})))
    });
    for _ in 0..2 {
        app.admin().post("/crypto/rpc/ethereum-mainnet", &call("eth_chainId")).await.ok_json();
    }
    assert_eq!(app.node.received_requests().len(), 3, "null is not kept");
}

#[tokio::test]
async fn a_sent_transaction_is_logged_with_its_hash_and_without_its_payload() {
    const RAW: &str = "0xc0";
    // The keccak-256 of the single byte above.
    const HASH: &str = "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347";
    let app = TestApp::start().await;
    let body = json!({"id": 1, "method": "eth_sendRawTransaction", "params": [RAW]});
    let reply = app.admin().post(BASE, &body).await;
    reply.ok_json();
    let batch = json!([call("eth_gasPrice"), body]);
    app.node.set_script(|calls| {
        (200, answer_each_call(calls, |it| build_error(it, -32000, "already known")))
    });
    let known = app.admin().post(BASE, &batch).await.ok_json();
    assert_eq!(known[1]["result"], HASH, "a node that has it has done what was asked");
    let logged = app.app.store.sent_transactions(HASH).await.unwrap();
    assert_eq!(logged.len(), 2);
    assert_eq!(logged[0].network, "base-mainnet");
    assert_eq!(logged[0].owner, app.owner());
    assert_eq!(logged[0].request_id, reply.header("x-request-id"));
}

#[tokio::test]
async fn requests_per_minute_are_capped_and_only_then_told() {
    let app = TestApp::start().await;
    let batch = json!([call("eth_call"), call("eth_call")]);
    for _ in 0..100 {
        app.admin().post(BASE, &batch).await.ok_json();
    }
    let refused = app.admin().post(BASE, &call("eth_call")).await;
    assert_eq!(refused.status, 429);
    let message = refused.json()["customMessage"].as_str().unwrap().to_owned();
    assert!(message.contains("100 RPC requests per minute"), "{message}");
    assert_eq!(refused.json()["error"], message);
    assert_eq!(refused.header("x-ratelimit-limit"), "100");
    assert_eq!(refused.header("x-ratelimit-remaining"), "0");
    let wait: u64 = refused.header("x-ratelimit-reset").parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    app.clock.advance_s(wait);
    app.admin().post(BASE, &call("eth_call")).await.ok_json();
}

#[tokio::test]
async fn one_owner_may_have_so_many_requests_under_way_and_no_more() {
    let app = TestApp::start().await;
    staff(&app).await;
    app.node.hold_responses();
    let client = &app.admin();
    let numbered = |number: u32| json!({"id": 1, "method": "eth_call", "params": [number]});
    let crowd = (0..128).map(|number| async move { client.post(BASE, &numbered(number)).await });
    let one_more = async {
        app.node.wait_for_requests(128).await;
        let refused = client.post(BASE, &numbered(128)).await;
        app.node.release_responses();
        refused
    };
    let (replies, refused) = tokio::join!(futures_util::future::join_all(crowd), one_more);
    assert!(replies.iter().all(|reply| reply.status == 200));
    assert_eq!((refused.status, refused.header("x-ratelimit-limit")), (429, "128"));
    let message = refused.json()["customMessage"].as_str().unwrap().to_owned();
    assert!(message.contains("128 RPC requests at a time"), "{message}");
    client.post(BASE, &numbered(128)).await.ok_json();
}

#[tokio::test]
async fn credits_per_day_are_capped_even_across_a_restart() {
    let mut app = TestApp::start().await;
    charge_credits(&app, 9_999_960).await;
    app.restart().await;
    for _ in 0..2 {
        app.admin().post(BASE, &call("eth_call")).await.ok_json();
    }
    let refused = app.admin().post(BASE, &call("eth_call")).await;
    assert_eq!(refused.status, 429);
    let message = refused.json()["customMessage"].as_str().unwrap().to_owned();
    assert!(message.contains("10000000 RPC credits per 24 hours"), "{message}");
    assert_eq!(refused.header("x-ratelimit-limit"), "10000000");
    assert_eq!(refused.header("x-ratelimit-remaining"), "0");
    assert_eq!(refused.header("x-ratelimit-reset"), (24 * 60 * 60).to_string());
    app.restart().await;
    assert_eq!(app.admin().post(BASE, &call("eth_call")).await.status, 429);
    app.clock.advance_s(24 * 60 * 60);
    app.admin().post(BASE, &call("eth_call")).await.ok_json();
}

/// Charges the account for this many credits of a chain.
async fn charge_credits(app: &TestApp, credits: u64) {
    let holder = app.app.keys.authenticate(app.admin_secret()).await.unwrap();
    let price = Price::from_nanos(625).unwrap();
    let sku = "crypto-rpc-ethereum-mainnet".to_owned();
    let rate = UnitRate::at_par(price);
    let line = ChargeLine { sku, units: credits, rate, per: PriceUnits::One };
    let charge = WorkCharge { lines: vec![line], ..WorkCharge::default() };
    let want = HoldRange::Exactly(charge.total().unwrap());
    let hold = app.app.ledger.hold(holder.payer(), want).unwrap();
    app.app.ledger.settle(hold, charge).await.unwrap();
}

/// Assigns the tier `staff` to the account `default`.
pub(crate) async fn staff(app: &TestApp) {
    let write = StoreWrite::SetTier { owner: app.owner(), tier: "staff".to_owned() };
    app.app.store.commit(WriteGroup::from_write(write)).await.unwrap();
}
