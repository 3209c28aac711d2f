//! Tests of idempotency keys of the JSON-RPC proxy: a repeated request runs once and is charged
//! once.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use store::idempotency::{StoredResponse, StoredResponseKey};
use store::write::{StoreWrite, WriteGroup};
use testkit::app::TestApp;
use testkit::client::{TestClient, TestReply};
use testkit::node::{answer_each_call, build_error};

use crate::crypto::{BASE, call, send, staff};

fn keyed(app: &TestApp, key: &str) -> TestClient {
    app.admin().with("idempotency-key", key)
}

/// True if the response is a replay.
fn is_replay(reply: &TestReply) -> bool {
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.header("idempotent-replayed") == "true"
}

#[tokio::test]
async fn the_same_request_is_answered_again_without_running_or_charging() {
    let app = TestApp::start().await;
    let first = keyed(&app, "k").post(BASE, &call("eth_gasPrice")).await;
    assert!(!is_replay(&first));
    app.node.set_script(|_| panic!("not asked again"));
    let second = keyed(&app, "k").post(BASE, &call("eth_gasPrice")).await;
    assert!(is_replay(&second));
    assert_eq!(second.body, first.body);
    for header in ["x-service-rpc-credits", "x-service-rpc-cost-usd", "content-type"] {
        assert_eq!(second.header(header), first.header(header), "{header}");
    }
    assert_eq!(app.verify_spent().await.nanos(), 20 * 625);
}

#[tokio::test]
async fn a_key_stands_for_one_body_and_one_network_of_one_owner() {
    let app = TestApp::start().await;
    keyed(&app, "k").post(BASE, &call("eth_gasPrice")).await.ok_json();
    for (path, body) in
        [(BASE, call("eth_syncing")), ("/crypto/rpc/ethereum-mainnet", call("eth_gasPrice"))]
    {
        let clash = keyed(&app, "k").post(path, &body).await;
        assert_eq!(clash.status, 400);
        assert!(clash.text().contains("Idempotency-Key was used for another request"));
    }
    let (_, other) = app.funded_account("other", "1").await;
    let reply = other.with("idempotency-key", "k").post(BASE, &call("eth_syncing")).await;
    assert!(!is_replay(&reply));
}

#[tokio::test]
async fn a_key_can_be_used_anew_after_a_day() {
    let app = TestApp::start().await;
    keyed(&app, "k").post(BASE, &call("eth_gasPrice")).await.ok_json();
    app.clock.advance_s(24 * 60 * 60 - 1);
    assert!(is_replay(&keyed(&app, "k").post(BASE, &call("eth_gasPrice")).await));
    app.clock.advance_s(1);
    assert!(!is_replay(&keyed(&app, "k").post(BASE, &call("eth_syncing")).await));
}

#[tokio::test]
async fn a_bad_key_is_refused() {
    let app = TestApp::start().await;
    for key in ["", "a b", "a.b", &"k".repeat(256)] {
        let reply = keyed(&app, key).post(BASE, &call("eth_gasPrice")).await;
        assert_eq!(reply.status, 400, "{key:?}");
    }
    let twice = keyed(&app, "a").with("idempotency-key", "b");
    assert_eq!(twice.post(BASE, &call("eth_gasPrice")).await.status, 400);
    assert!(app.node.received_requests().is_empty());
}

#[tokio::test]
async fn errors_of_the_chain_are_kept_and_failures_of_nodes_are_not() {
    let app = TestApp::start().await;
    app.node.set_script(|_| (500, json!("no")));
    assert_eq!(keyed(&app, "k").post(BASE, &call("eth_call")).await.status, 503);
    app.node
        .set_script(|calls| (200, answer_each_call(calls, |it| build_error(it, 3, "reverted"))));
    assert!(!is_replay(&keyed(&app, "k").post(BASE, &call("eth_call")).await));
    assert!(is_replay(&keyed(&app, "k").post(BASE, &call("eth_call")).await));
    assert_eq!(app.verify_spent().await.nanos(), 5 * 625);
}

#[tokio::test]
async fn an_answer_survives_a_restart() {
    let mut app = TestApp::start().await;
    let first = keyed(&app, "k").post(BASE, &call("eth_gasPrice")).await;
    app.restart().await;
    let second = keyed(&app, "k").post(BASE, &call("eth_gasPrice")).await;
    assert!(is_replay(&second));
    assert_eq!(second.body, first.body);
    assert_eq!(app.node.received_requests().len(), 1);
}

#[tokio::test]
async fn a_thousand_duplicates_at_once_make_one_call_and_one_charge() {
    let app = TestApp::start().await;
    staff(&app).await;
    app.node.hold_responses();
    let (client, body) = (keyed(&app, "k"), call("eth_gasPrice"));
    let duplicates = join_all((0..1_000).map(|_| client.post(BASE, &body)));
    let answer_when_asked = async {
        app.node.wait_for_requests(1).await;
        app.node.release_responses();
    };
    let (replies, ()) = tokio::join!(duplicates, answer_when_asked);
    let replays = replies.iter().filter(|reply| is_replay(reply)).count();
    assert_eq!((app.node.received_requests().len(), replays), (1, 999));
    assert_eq!(app.verify_spent().await.nanos(), 20 * 625);
}

#[tokio::test]
async fn a_caller_who_leaves_does_not_stop_the_request() {
    let app = TestApp::start().await;
    app.node.hold_responses();
    {
        let client = keyed(&app, "k");
        let body = call("eth_gasPrice");
        let leaving = client.post(BASE, &body);
        tokio::select! {
            _ = leaving => panic!("answered too early"),
            () = app.node.wait_for_requests(1) => {}
        }
    }
    app.node.release_responses();
    app.settle_tasks().await;
    assert!(is_replay(&keyed(&app, "k").post(BASE, &call("eth_gasPrice")).await));
    assert_eq!(app.verify_spent().await.nanos(), 20 * 625);
}

#[tokio::test]
async fn the_body_counts_byte_for_byte() {
    let app = TestApp::start().await;
    let body: Value = call("eth_gasPrice");
    keyed(&app, "k").post(BASE, &body).await.ok_json();
    let spaced = body.to_string().replace(',', ", ");
    assert_eq!(send(&keyed(&app, "k"), BASE, &spaced).await.status, 400);
}

#[tokio::test]
async fn an_owner_keeps_so_many_answers_and_no_more() {
    const ANSWERS: u32 = 100_000;
    let app = TestApp::start().await;
    let expires = app.app.clock.now().plus(Duration::from_secs(60));
    let answer =
        StoredResponse { fingerprint: [0; 32], headers: Vec::new(), body: Vec::new(), expires };
    let keep = |number: u32| StoreWrite::KeepAnswer {
        key: StoredResponseKey { owner: app.owner(), key: number.to_string() },
        answer: answer.clone(),
    };
    app.app.store.commit(WriteGroup { writes: (0..ANSWERS).map(keep).collect() }).await.unwrap();
    let refused = keyed(&app, "one-more").post(BASE, &call("eth_gasPrice")).await;
    assert_eq!(refused.status, 429, "{}", refused.text());
    assert!(refused.text().contains("100000 answers"), "{}", refused.text());
    assert!(app.node.received_requests().is_empty());
    app.admin().post(BASE, &call("eth_gasPrice")).await.ok_json();
    app.clock.advance_s(60);
    let (now, rows_max) = (app.app.clock.now(), 1);
    let drop_one = StoreWrite::DropExpiredAnswers { now, rows_max };
    app.app.store.commit(WriteGroup::from_write(drop_one)).await.unwrap();
    assert!(!is_replay(&keyed(&app, "one-more").post(BASE, &call("eth_gasPrice")).await));
}
