//! Tests of the node client against well-behaved and faulty nodes.

mod failover;
mod sharing;
mod stub;

use expect_test::{Expect, expect};
use moment::ManualClock;

use super::*;
use stub::{StubChainNode, StubReaction, results, unreachable};

const CALL: &str = r#"{"id":"c","method":"eth_call"}"#;
const SEND: &str = r#"{"id":8,"method":"eth_sendRawTransaction","params":["0xc0"]}"#;
const POLYGON: &str = r#"{"jsonrpc":"2.0","id":0,"result":"0x89"}"#;
const BATCH: &str = r#"[{"id":1,"method":"eth_call"},{"id":1,"method":"eth_chainId"}]"#;

fn network() -> RpcNetwork {
    RpcNetwork::parse("ethereum-mainnet").expect("served")
}

/// Short timeouts, for tests with a node that never answers.
fn impatient() -> NodeLimits {
    let (total_timeout, attempt_timeout) = (Duration::from_millis(900), Duration::from_millis(300));
    NodeLimits { total_timeout, attempt_timeout, ..NodeLimits::default() }
}

fn nodes(urls: &[&str], limits: NodeLimits) -> ChainNodes {
    let urls = urls.iter().map(|it| (*it).to_owned()).collect();
    let clock = Arc::new(ManualClock::default());
    ChainNodes::new([(network(), urls)], limits, clock).expect("good addresses")
}

async fn ask(nodes: &ChainNodes, body: &str) -> String {
    let batch = CallBatch::parse(network(), body.as_bytes()).expect("a good body");
    match nodes.send_batch(&batch).await {
        Ok(reply) => {
            let body = String::from_utf8(reply.body).expect("JSON is text");
            format!("{body} {:?}", reply.outcomes)
        }
        Err(error) => format!("{error:?}: {error}"),
    }
}

/// Calls a single node, which has the whole time.
async fn check(stub: &StubChainNode, body: &str, expected: Expect) {
    let answer = ask(&nodes(&[&stub.url], NodeLimits::default()), body).await;
    expected.assert_eq(&answer);
}

#[tokio::test]
async fn a_good_node_answers_one_call_and_a_batch() {
    let stub = StubChainNode::good().await;
    check(&stub, CALL, expect![[r#"{"jsonrpc":"2.0","id":"c","result":"eth_call"} [Result]"#]])
        .await;
    check(&stub, BATCH, expect![[r#"[{"jsonrpc":"2.0","id":1,"result":"eth_call"},{"jsonrpc":"2.0","id":1,"result":"eth_chainId"}] [Result, Result]"#]]).await;
    assert_eq!(stub.asked(), ["eth_call", "eth_call+eth_chainId"]);
}

#[tokio::test]
async fn a_node_that_answers_out_of_order_and_in_part_is_understood() {
    let stub =
        StubChainNode::always(200, r#"[{"id":2,"result":"second"},{"id":9,"result":"stray"}]"#)
            .await;
    check(&stub, BATCH, expect![[r#"[{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"The node did not answer this call"}},{"id":1,"result":"second"}] [Error, Result]"#]]).await;
}

#[tokio::test]
async fn a_refusal_by_the_only_node_is_an_error_item_each() {
    let stub = StubChainNode::always(400, "Bad Request").await;
    check(&stub, BATCH, expect![[r#"[{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"The node refused the call: HTTP 400"}},{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"The node refused the call: HTTP 400"}}] [Error, Error]"#]]).await;
    let stub =
        StubChainNode::always(403, r#"{"id":1,"error":{"code":1,"message":"bad key"}}"#).await;
    check(&stub, CALL, expect![[r#"{"jsonrpc":"2.0","id":"c","error":{"code":-32603,"message":"The node refused the call: HTTP 403"}} [Error]"#]]).await;
}

#[tokio::test]
async fn quotas_failures_redirects_and_garbage_are_no_answer() {
    for (status, body) in [(402, "pay"), (429, "slow down"), (500, "oops"), (503, ""), (302, "")] {
        let stub = StubChainNode::always(status, body).await;
        check(&stub, CALL, expect!["Unavailable(Network(ethereum-mainnet)): No node of ethereum-mainnet could answer; try again shortly"]).await;
    }
    for garbage in ["<html>", "", "{}", "[{\"id\":1,"] {
        let stub = StubChainNode::always(200, garbage).await;
        check(&stub, CALL, expect!["Unavailable(Network(ethereum-mainnet)): No node of ethereum-mainnet could answer; try again shortly"]).await;
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let target = StubChainNode::good().await;
    let url = target.url.clone();
    let stub = StubChainNode::start(move |_, _| StubReaction::Redirect(url.clone())).await;
    assert!(
        ask(&nodes(&[&stub.url], NodeLimits::default()), CALL).await.starts_with("Unavailable")
    );
    assert!(target.asked().is_empty());
}

#[tokio::test]
async fn an_answer_beyond_the_limit_is_an_error_item() {
    let limits = NodeLimits { response_bytes_max: 60, ..NodeLimits::default() };
    let fits = StubChainNode::always(
        200,
        r#"{"id":1,"result":"0123456789012345678901234567890123456789"}"#,
    )
    .await;
    let answer = ask(&nodes(&[&fits.url], limits.clone()), CALL).await;
    expect![[r#"{"id":"c","result":"0123456789012345678901234567890123456789"} [Result]"#]]
        .assert_eq(&answer);
    let endless = StubChainNode::start(|_, _| StubReaction::Endless).await;
    let answer = ask(&nodes(&[&endless.url], limits), CALL).await;
    expect![[r#"{"jsonrpc":"2.0","id":"c","error":{"code":-32603,"message":"The response is larger than 60 bytes: request less at a time"}} [Error]"#]].assert_eq(&answer);
}

#[tokio::test]
async fn a_silent_node_times_out() {
    let stub = StubChainNode::start(|_, _| StubReaction::Stall).await;
    let nodes = nodes(&[&stub.url], impatient());
    expect!["TimedOut(Network(ethereum-mainnet)): No node of ethereum-mainnet answered in time; try again, or ask for less at a time"]
        .assert_eq(&ask(&nodes, CALL).await);
    expect!["Unconfirmed(Network(ethereum-mainnet)): A node of ethereum-mainnet took the request but did not confirm it; look it up before resending"]
        .assert_eq(&ask(&nodes, SEND).await);
}

#[tokio::test]
async fn a_read_survives_a_connection_that_closes_under_it() {
    let stub = StubChainNode::start(|body, before| match before {
        0 => StubReaction::HangUp,
        2 => StubReaction::CutShort,
        _ => StubReaction::Reply(200, results(body)),
    })
    .await;
    let nodes = nodes(&[&stub.url], NodeLimits::default());
    for _ in 0..2 {
        expect![[r#"{"jsonrpc":"2.0","id":"c","result":"eth_call"} [Result]"#]]
            .assert_eq(&ask(&nodes, CALL).await);
    }
    assert_eq!(stub.asked().len(), 4);
}

#[tokio::test]
async fn a_request_beyond_the_limit_waits_for_its_turn_and_then_gives_up() {
    let stub = StubChainNode::good().await;
    let nodes = nodes(&[&stub.url], NodeLimits { in_flight_max: 1, ..impatient() });
    let turn = nodes.pools[network().slug()].in_flight.acquire().await;
    assert!(ask(&nodes, CALL).await.starts_with("Unavailable"));
    assert!(stub.asked().is_empty());
    drop(turn);
    assert!(ask(&nodes, CALL).await.ends_with("[Result]"));
}

#[tokio::test]
async fn only_configured_networks_are_listed_and_asked() {
    let (base, bsc) = ("base-mainnet", "bsc-testnet");
    let urls = [(base, vec!["http://127.0.0.1:1".to_owned()]), (bsc, vec![])];
    let parsed = urls.map(|(slug, urls)| (RpcNetwork::parse(slug).expect("served"), urls));
    let nodes = ChainNodes::new(parsed, NodeLimits::default(), Arc::new(ManualClock::default()));
    let nodes = nodes.expect("good addresses");
    assert_eq!(nodes.networks().map(RpcNetwork::slug).collect::<Vec<_>>(), [base]);
    expect!["NotConfigured(Network(ethereum-mainnet)): ethereum-mainnet has no nodes configured on this server"]
        .assert_eq(&ask(&nodes, CALL).await);
}

#[test]
fn bad_addresses_and_limits_are_refused_without_repeating_a_secret() {
    let new = |url: &str, limits| {
        let clock = Arc::new(ManualClock::default());
        let error = ChainNodes::new([(network(), vec![url.to_owned()])], limits, clock).err();
        error.expect("refused").to_string()
    };
    for url in ["", "node", "ws://host/secret", "file:///secret", "http://"] {
        expect!["URL number 0 of ethereum-mainnet must start with http:// or https://"]
            .assert_eq(&new(url, NodeLimits::default()));
    }
    let forever = NodeLimits { total_timeout: Duration::MAX, ..NodeLimits::default() };
    expect!["total_timeout must be 1 ms to 600 s"].assert_eq(&new("http://host", forever));
}

#[tokio::test]
async fn a_check_up_finds_nodes_of_the_wrong_chain() {
    let telling = |told| StubChainNode::of_chain(told, |_, _| StubReaction::HangUp);
    let right = telling(r#"{"jsonrpc":"2.0","id":0,"result":"0x1"}"#).await;
    let wrong = telling(POLYGON).await;
    let keyless = telling("").await;
    let odd = telling(r#"{"jsonrpc":"2.0","id":0,"result":1}"#).await;
    let gone = unreachable().await;
    let urls = [&right.url, &wrong.url, &keyless.url, &odd.url, &gone].map(String::as_str);
    let checks = nodes(&urls, NodeLimits::default()).check_chain(network()).await;
    let verdicts: Vec<String> = checks
        .expect("configured")
        .iter()
        .map(|it| format!("{} {:?}", it.host, it.verdict))
        .collect();
    expect![[r#"
        127.0.0.1 Right
        127.0.0.1 WrongChain(137)
        127.0.0.1 Silent("refused with HTTP 401: check its URL and key")
        127.0.0.1 Silent("sent no chain id")
        127.0.0.1 Silent("cannot be reached")"#]]
    .assert_eq(&verdicts.join("\n"));
}

#[tokio::test]
async fn a_node_of_another_chain_answers_nothing_not_even_the_first_call() {
    let wrong =
        StubChainNode::of_chain(POLYGON, |body, _| StubReaction::Reply(200, results(body))).await;
    let right = StubChainNode::good().await;
    for body in [CALL, SEND] {
        let nodes = nodes(&[&wrong.url, &right.url], NodeLimits::default());
        assert!(ask(&nodes, body).await.ends_with("[Result]"));
    }
    assert!(wrong.asked().is_empty());
    assert_eq!(right.asked().len(), 2);
    let alone = nodes(&[&wrong.url], NodeLimits::default());
    for body in [CALL, SEND] {
        assert!(ask(&alone, body).await.starts_with("Unavailable"));
    }
    assert!(wrong.asked().is_empty());
}

#[tokio::test]
async fn a_node_that_does_not_tell_its_chain_is_not_asked_until_it_does() {
    let silent =
        StubChainNode::of_chain("", |body, _| StubReaction::Reply(200, results(body))).await;
    let nodes = nodes(&[&silent.url], NodeLimits::default());
    assert!(ask(&nodes, CALL).await.starts_with("Unavailable"));
    assert!(silent.asked().is_empty());
}

#[tokio::test]
async fn a_slow_read_is_hedged_only_with_a_node_that_told_its_chain() {
    let slow = StubChainNode::start(|body, _| {
        StubReaction::Late(Duration::from_millis(300), results(body))
    })
    .await;
    let wrong =
        StubChainNode::of_chain(POLYGON, |body, _| StubReaction::Reply(200, results(body))).await;
    let hedge_after = Some(Duration::from_millis(10));
    let nodes =
        nodes(&[&slow.url, &wrong.url], NodeLimits { hedge_after, ..NodeLimits::default() });
    assert!(ask(&nodes, CALL).await.ends_with("[Result]"));
    assert!(wrong.asked().is_empty());
}
