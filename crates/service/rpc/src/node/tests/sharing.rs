//! Tests of shared reads, of cached results, of hedged reads, and of nodes that serve another
//! chain.

use super::*;

const HASH: &str = "0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

#[tokio::test]
async fn the_same_read_under_way_is_sent_once_and_answers_to_each_id() {
    let stub = StubChainNode::start(|body, _| {
        StubReaction::Late(Duration::from_millis(200), results(body))
    })
    .await;
    let nodes = nodes(&[&stub.url], NodeLimits::default());
    let bodies: Vec<String> =
        (0..20).map(|id| format!(r#"{{"id":{id},"method":"eth_call"}}"#)).collect();
    let answers = bodies.iter().map(|body| ask(&nodes, body));
    let answers = futures_util::future::join_all(answers).await;
    for (id, answer) in answers.iter().enumerate() {
        let expected = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"eth_call"}} [Result]"#);
        assert_eq!(*answer, expected);
    }
    assert_eq!(stub.asked(), ["eth_call"]);
    ask(&nodes, CALL).await;
    assert_eq!(stub.asked().len(), 2, "what has ended is not shared");
}

#[tokio::test]
async fn other_parameters_and_submissions_are_never_shared() {
    let stub = StubChainNode::start(|body, _| {
        StubReaction::Late(Duration::from_millis(100), results(body))
    })
    .await;
    let nodes = nodes(&[&stub.url], NodeLimits::default());
    let other = r#"{"id":"c","method":"eth_call","params":[1]}"#;
    tokio::join!(ask(&nodes, CALL), ask(&nodes, other), ask(&nodes, SEND), ask(&nodes, SEND));
    assert_eq!(stub.asked().len(), 4);
}

#[tokio::test]
async fn a_block_by_its_hash_is_asked_for_once_and_the_rest_of_a_batch_each_time() {
    let stub = StubChainNode::good().await;
    let nodes = nodes(&[&stub.url], NodeLimits::default());
    let block = format!(r#"{{"id":1,"method":"eth_getBlockByHash","params":["{HASH}",true]}}"#);
    let batch = format!(r#"[{block},{{"id":2,"method":"eth_call"}}]"#);
    let first = ask(&nodes, &batch).await;
    assert_eq!(ask(&nodes, &batch).await, first);
    ask(&nodes, &block).await;
    assert_eq!(stub.asked(), ["eth_getBlockByHash+eth_call", "eth_call"]);
}

#[tokio::test]
async fn nothing_and_errors_are_not_kept() {
    for answer in [r#"{"id":1,"result":null}"#, r#"{"id":1,"error":{"code":3}}"#] {
        let stub = StubChainNode::always(200, answer).await;
        let nodes = nodes(&[&stub.url], NodeLimits::default());
        let block = format!(r#"{{"id":1,"method":"eth_getBlockByHash","params":["{HASH}",true]}}"#);
        ask(&nodes, &block).await;
        ask(&nodes, &block).await;
        assert_eq!(stub.asked().len(), 2, "{answer}");
    }
}

/// Calls a node that never answers and then a good one, with a hedge.
async fn hedged(body: &str) -> (String, usize) {
    let slow = StubChainNode::start(|_, _| StubReaction::Stall).await;
    let good = StubChainNode::good().await;
    let hedge_after = Some(Duration::from_millis(20));
    // There is no time left for the second node unless it is called in parallel.
    let attempt_timeout = impatient().total_timeout;
    let limits = NodeLimits { hedge_after, attempt_timeout, ..impatient() };
    let nodes = nodes(&[&slow.url, &good.url], limits);
    nodes.check_chains().await;
    (ask(&nodes, body).await, good.asked().len())
}

#[tokio::test]
async fn a_slow_read_is_sent_to_a_second_node_and_a_transaction_is_not() {
    let (answer, asked) = hedged(CALL).await;
    assert!(answer.ends_with("[Result]"), "{answer}");
    assert_eq!(asked, 1);
    let (answer, asked) = hedged(SEND).await;
    assert!(answer.starts_with("Unconfirmed"), "{answer}");
    assert_eq!(asked, 0);
}

#[tokio::test]
async fn a_node_of_another_chain_is_not_asked() {
    let wrong =
        StubChainNode::of_chain(POLYGON, |body, _| StubReaction::Reply(200, results(body))).await;
    let nodes = nodes(&[&wrong.url], NodeLimits::default());
    nodes.check_chains().await;
    assert!(ask(&nodes, CALL).await.starts_with("Unavailable"));
    assert!(wrong.asked().is_empty());
}
