//! Tests of retries on a second node, and of submissions, which are not retried.

use super::*;

const MIXED: &str = r#"[{"id":7,"method":"eth_call"},
    {"id":8,"method":"eth_sendRawTransaction","params":["0xc0"]}]"#;

/// Calls a faulty node and then a good one, and shows the answer and the calls of each.
async fn check(bad: StubChainNode, body: &str, expected: Expect) {
    check_within(NodeLimits::default(), bad, body, expected).await;
}

async fn check_within(limits: NodeLimits, bad: StubChainNode, body: &str, expected: Expect) {
    let good = StubChainNode::good().await;
    let answer = ask(&nodes(&[&bad.url, &good.url], limits), body).await;
    expected.assert_eq(&format!("{answer}\nbad {:?}\ngood {:?}\n", bad.asked(), good.asked()));
}

#[tokio::test]
async fn a_read_goes_on_to_the_next_node() {
    for status in [500, 503, 429, 402, 301, 401, 403, 404] {
        check(
            StubChainNode::always(status, "no").await,
            CALL,
            expect![[r#"
            {"jsonrpc":"2.0","id":"c","result":"eth_call"} [Result]
            bad ["eth_call"]
            good ["eth_call"]
        "#]],
        )
        .await;
    }
    for body in ["<html>", r#"{"id":1,"error":{"code":-32601}}"#, r#"{"id":5,"result":1}"#] {
        check(
            StubChainNode::always(200, body).await,
            CALL,
            expect![[r#"
            {"jsonrpc":"2.0","id":"c","result":"eth_call"} [Result]
            bad ["eth_call"]
            good ["eth_call"]
        "#]],
        )
        .await;
    }
    check(
        StubChainNode::start(|_, _| StubReaction::CutShort).await,
        CALL,
        expect![[r#"
        {"jsonrpc":"2.0","id":"c","result":"eth_call"} [Result]
        bad ["eth_call", "eth_call"]
        good ["eth_call"]
    "#]],
    )
    .await;
}

#[tokio::test]
async fn an_answer_that_is_about_the_call_stays_with_the_first_node() {
    let reverted =
        StubChainNode::always(200, r#"{"id":1,"error":{"code":3,"message":"reverted"}}"#).await;
    check(
        reverted,
        CALL,
        expect![[r#"
        {"id":"c","error":{"code":3,"message":"reverted"}} [Error]
        bad ["eth_call"]
        good []
    "#]],
    )
    .await;
    check(StubChainNode::always(400, "what?").await, CALL, expect![[r#"
        {"jsonrpc":"2.0","id":"c","error":{"code":-32603,"message":"The node refused the call: HTTP 400"}} [Error]
        bad ["eth_call"]
        good []
    "#]]).await;
}

#[tokio::test]
async fn only_what_is_missing_of_a_batch_is_asked_of_the_next_node() {
    let half = StubChainNode::always(200, r#"[{"id":2,"result":"half"}]"#).await;
    check(
        half,
        BATCH,
        expect![[r#"
        [{"jsonrpc":"2.0","id":1,"result":"eth_call"},{"id":1,"result":"half"}] [Result, Result]
        bad ["eth_call+eth_chainId"]
        good ["eth_call"]
    "#]],
    )
    .await;
    let batchless = StubChainNode::always(200, r#"{"id":null,"error":{"code":-32600}}"#).await;
    check(batchless, BATCH, expect![[r#"
        [{"jsonrpc":"2.0","id":1,"result":"eth_call"},{"jsonrpc":"2.0","id":1,"result":"eth_chainId"}] [Result, Result]
        bad ["eth_call+eth_chainId"]
        good ["eth_call+eth_chainId"]
    "#]]).await;
}

#[tokio::test]
async fn a_transaction_goes_on_only_if_the_first_node_surely_did_not_take_it() {
    for status in [429, 402, 401, 403, 404] {
        check(
            StubChainNode::always(status, "no").await,
            SEND,
            expect![[r#"
            {"jsonrpc":"2.0","id":8,"result":"eth_sendRawTransaction"} [Result]
            bad ["eth_sendRawTransaction"]
            good ["eth_sendRawTransaction"]
        "#]],
        )
        .await;
    }
    let in_doubt = [
        StubChainNode::always(500, "").await,
        StubChainNode::always(502, "").await,
        StubChainNode::always(200, "<html>").await,
        StubChainNode::start(|_, _| StubReaction::HangUp).await,
        StubChainNode::start(|_, _| StubReaction::CutShort).await,
    ];
    for bad in in_doubt {
        check(bad, SEND, expect![[r#"
            Unconfirmed(Network(ethereum-mainnet)): A node of ethereum-mainnet took the request but did not confirm it; look it up before resending
            bad ["eth_sendRawTransaction"]
            good []
        "#]]).await;
    }
}

#[tokio::test]
async fn a_node_that_stalls_is_left_with_a_read_but_not_with_a_transaction() {
    let stalling = || StubChainNode::start(|_, _| StubReaction::Stall);
    check_within(
        impatient(),
        stalling().await,
        CALL,
        expect![[r#"
        {"jsonrpc":"2.0","id":"c","result":"eth_call"} [Result]
        bad ["eth_call"]
        good ["eth_call"]
    "#]],
    )
    .await;
    check_within(impatient(), stalling().await, SEND, expect![[r#"
        Unconfirmed(Network(ethereum-mainnet)): A node of ethereum-mainnet took the request but did not confirm it; look it up before resending
        bad ["eth_sendRawTransaction"]
        good []
    "#]])
    .await;
}

#[tokio::test]
async fn a_transaction_may_take_longer_than_a_read() {
    let delay = Duration::from_millis(200);
    let slow = StubChainNode::start(move |body, _| StubReaction::Late(delay, results(body))).await;
    let limits = NodeLimits { attempt_timeout: delay / 10, ..NodeLimits::default() };
    check_within(
        limits,
        slow,
        SEND,
        expect![[r#"
        {"jsonrpc":"2.0","id":8,"result":"eth_sendRawTransaction"} [Result]
        bad ["eth_sendRawTransaction"]
        good []
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_transaction_goes_past_a_node_that_is_not_there() {
    let (gone, good) = (unreachable().await, StubChainNode::good().await);
    let answer = ask(&nodes(&[&gone, &good.url], NodeLimits::default()), SEND).await;
    expect![[r#"{"jsonrpc":"2.0","id":8,"result":"eth_sendRawTransaction"} [Result]"#]]
        .assert_eq(&answer);
}

#[tokio::test]
async fn in_a_mixed_batch_only_the_reads_go_on() {
    check(StubChainNode::always(502, "").await, MIXED, expect![[r#"
        [{"jsonrpc":"2.0","id":7,"result":"eth_call"},{"jsonrpc":"2.0","id":8,"error":{"code":-32603,"message":"The node did not confirm this call, which may have been executed. Check before you repeat it"}}] [Result, Unavailable]
        bad ["eth_call+eth_sendRawTransaction"]
        good ["eth_call"]
    "#]]).await;
}

#[tokio::test]
async fn a_failed_node_is_left_alone_until_it_has_rested() {
    let recovering = |body: &str, before| match before {
        0 => StubReaction::Reply(503, String::new()),
        _ => StubReaction::Reply(200, results(body)),
    };
    let (first, second) = (StubChainNode::start(recovering).await, StubChainNode::good().await);
    let clock = Arc::new(ManualClock::default());
    let urls = vec![first.url.clone(), second.url.clone()];
    let nodes = ChainNodes::new([(network(), urls)], NodeLimits::default(), clock.clone());
    let nodes = nodes.expect("good addresses");
    let mut seen = Vec::new();
    for rest_s in [0, 0, 1, 0] {
        clock.advance(Duration::from_secs(rest_s));
        ask(&nodes, CALL).await;
        seen.push((first.asked().len(), second.asked().len()));
    }
    assert_eq!(seen, [(1, 1), (1, 2), (2, 2), (3, 2)]);
}

#[tokio::test]
async fn when_every_node_rests_they_are_still_asked() {
    let stub = StubChainNode::start(|body, before| match before {
        0 => StubReaction::Reply(503, String::new()),
        _ => StubReaction::Reply(200, results(body)),
    })
    .await;
    let nodes = nodes(&[&stub.url], NodeLimits::default());
    assert!(ask(&nodes, CALL).await.starts_with("Unavailable"));
    assert!(ask(&nodes, CALL).await.ends_with("[Result]"));
}
