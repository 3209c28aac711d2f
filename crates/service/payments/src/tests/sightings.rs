//! The interpretation of the chains' answers, one answer at a time.

use std::sync::Arc;

use alloy_primitives::hex;
use serde_json::{Value, json};
use store::claim::{ClaimId, ClaimState, PaymentClaim, SentPayment};
use wallet::evm::{authorization_cancelled_topic, authorization_used_topics};
use wallet::{ChainNetwork, PaymentProof, UnverifiedPayment};

use super::stub::{nodes, stub, stub_of};
use super::world::{NOW_S, Payer, terms};
use crate::evm::EvmChain;
use crate::{ChainSighting, EvmNodes, SettleFailure, SettlerFuture};

const OURS: &str = "0x00000000000000000000000000000000000000000000000000000000000000aa";
const THEIRS: &str = "0x00000000000000000000000000000000000000000000000000000000000000bb";
const HEAD: u64 = 1000;

/// The answers of a node about a claim.
#[derive(Clone, Default)]
pub(super) struct Said {
    /// The newest block's time in seconds after the authorization was made, which is valid for 300.
    pub(super) block_after_s: i64,
    /// The relayer's transaction count, below the newest blocks.
    pub(super) sent: u64,
    pub(super) ours: Option<Value>,
    pub(super) is_used: bool,
    pub(super) endings: Vec<(&'static str, Value)>,
}

pub(super) fn claim() -> PaymentClaim {
    let payment = UnverifiedPayment::decode(Payer::new(1).header().as_bytes()).unwrap();
    let terms = terms();
    let network = ChainNetwork::Evm { chain_id: 8453 };
    let requirement = terms.build_requirement(network, terms.minimum).unwrap();
    PaymentClaim {
        id: ClaimId([1; 20]),
        network: requirement.network.clone(),
        asset: requirement.asset.clone(),
        payer: Payer::new(1).name(),
        nonce: [1; 32],
        pay_to: requirement.pay_to.clone(),
        units: 5_000_000,
        payment: payment.to_payload(&requirement).to_string(),
        state: ClaimState::Submitted,
        sent: SentPayment {
            transaction: Some(OURS.to_owned()),
            raw: Some(vec![2]),
            sequence: Some(7),
            since_block: Some(900),
            replaced: Vec::new(),
        },
        sent_at: Some(moment::Timestamp::from_ms(0)),
        credit: None,
        reason: None,
        created: moment::Timestamp::from_ms(0),
        changed: moment::Timestamp::from_ms(0),
    }
}

fn word(bytes: &[u8]) -> String {
    format!("0x{:0>64}", hex::encode(bytes))
}

fn log(topics: &[String], data: &str) -> Value {
    json!({ "address": claim().asset, "topics": topics, "data": data })
}

/// A receipt of a transaction in `block` with the events of a transfer to `pay_to`.
fn receipt(transaction: &str, block: u64, pay_to: &str) -> Value {
    let payment = UnverifiedPayment::read(serde_json::from_str(&claim().payment).unwrap()).unwrap();
    let PaymentProof::Evm { authorization, .. } = payment.proof else {
        panic!("a payment on Base")
    };
    let used = authorization_used_topics(&authorization).map(hex::encode_prefixed);
    let transfer = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
    let to = word(&hex::decode(pay_to).unwrap());
    let moved = [transfer.to_owned(), used[1].clone(), to];
    let logs = json!([log(&used, "0x"), log(&moved, &word(&5_000_000_u64.to_be_bytes()))]);
    json!({
        "status": "0x1",
        "transactionHash": transaction,
        "blockNumber": format!("{block:#x}"),
        "logs": logs,
    })
}

fn reverted(block: u64) -> Value {
    let block = format!("{block:#x}");
    json!({ "status": "0x0", "transactionHash": OURS, "blockNumber": block, "logs": [] })
}

pub(super) fn answer(said: &Said, method: &str, params: &Value) -> Value {
    match method {
        "eth_getBlockByNumber" => json!({
            "number": format!("{HEAD:#x}"),
            "timestamp": format!("{:#x}", NOW_S + said.block_after_s),
            "baseFeePerGas": "0x1",
        }),
        "eth_getTransactionCount" => json!(format!("{:#x}", said.sent)),
        "eth_getTransactionReceipt" if params[0] == OURS => json!(said.ours),
        "eth_getTransactionReceipt" => {
            let found = said.endings.iter().find(|(name, _)| params[0] == *name);
            json!(found.map(|(_, receipt)| receipt))
        }
        "eth_call" => json!(word(&[u8::from(said.is_used)])),
        "eth_getLogs" => {
            let asked: Vec<&str> = params[0]["topics"][0]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(Value::as_str)
                .collect();
            assert!(
                asked.contains(&hex::encode_prefixed(authorization_cancelled_topic()).as_str())
            );
            assert_eq!(params[0]["fromBlock"], "0x384");
            let log = |(name, receipt): &(&str, Value)| json!({ "transactionHash": name, "blockNumber": receipt["blockNumber"] });
            said.endings.iter().map(log).collect()
        }
        other => panic!("{other}"),
    }
}

async fn look(said: Said, confirmations: u64) -> ChainSighting {
    look_for(claim(), said, confirmations).await
}

async fn look_for(claim: PaymentClaim, said: Said, confirmations: u64) -> ChainSighting {
    let url = stub(Arc::new(move |method, params| answer(&said, method, params))).await;
    let chain = EvmChain::new(&EvmNodes { confirmations, ..nodes(&url) }).unwrap();
    let relayer = wallet::EvmAddress::from_bytes([9; 20]);
    let looked: SettlerFuture<'_, ChainSighting> = Box::pin(chain.look_up(&claim, Some(relayer)));
    looked.await.unwrap()
}

#[tokio::test]
async fn what_one_node_shows_is_not_credited_until_the_others_show_it() {
    let moved = Said { ours: Some(receipt(OURS, HEAD, &claim().pay_to)), ..Said::default() };
    let shallow = Said { ours: Some(receipt(OURS, HEAD + 1, &claim().pay_to)), ..Said::default() };
    let elsewhere = Said {
        ours: Some(receipt(OURS, HEAD, "0x00000000000000000000000000000000000000ff")),
        ..Said::default()
    };
    let cases =
        [(moved.clone(), true), (shallow, false), (elsewhere, false), (Said::default(), false)];
    for (other, is_credited) in cases {
        let said = moved.clone();
        let url = stub(Arc::new(move |method, params| answer(&said, method, params))).await;
        let other = stub(Arc::new(move |method, params| answer(&other, method, params))).await;
        let also = [other.as_str()];
        let chain = EvmChain::new(&EvmNodes { also: &also, ..nodes(&url) }).unwrap();
        let looked = chain.look_up(&claim(), None).await;
        assert_eq!(matches!(looked, Ok(ChainSighting::Moved(_))), is_credited, "{looked:?}");
    }
}

#[tokio::test]
async fn a_node_of_another_chain_is_not_believed() {
    let moved = Said { ours: Some(receipt(OURS, HEAD, &claim().pay_to)), ..Said::default() };
    let said = moved.clone();
    let right = stub(Arc::new(move |method, params| answer(&said, method, params))).await;
    let wrong = Arc::new(move |method: &str, params: &Value| answer(&moved, method, params));
    let wrong = stub_of("0x1", wrong).await;
    let also = [wrong.as_str()];
    for nodes in [nodes(&wrong), EvmNodes { also: &also, ..nodes(&right) }] {
        let chain = EvmChain::new(&nodes).unwrap();
        for _ in 0..2 {
            let looked = chain.look_up(&claim(), None).await;
            assert!(matches!(looked, Err(SettleFailure::WrongChain { .. })), "{looked:?}");
        }
        let Err(setback) = chain.check_all_nodes().await else { panic!("one is of another chain") };
        assert_eq!(setback.to_string(), "the node serves chain 1 and not chain 8453");
    }
}

/// A sighting in short: the transaction that moved it, the reason why it never will, or `unsent` or
/// `waiting`.
fn word_for(sighting: &ChainSighting) -> String {
    match sighting {
        ChainSighting::Moved(moved) => format!("{} by {}", moved.amount, &moved.transaction[64..]),
        ChainSighting::Never(decline) => decline.reason.clone(),
        ChainSighting::Unsent(_) => "unsent".to_owned(),
        ChainSighting::Waiting { .. } => "waiting".to_owned(),
    }
}

#[track_caller]
fn check(said: Said, confirmations: u64, expected: &str) -> impl Future<Output = ()> {
    let caller = std::panic::Location::caller();
    let expected = expected.to_owned();
    async move {
        let sighting = look(said, confirmations).await;
        assert_eq!(word_for(&sighting), expected, "asked at {caller}");
    }
}

#[tokio::test]
async fn a_payment_counts_once_enough_blocks_stand_on_it() {
    let said = |block| Said {
        ours: Some(receipt(OURS, block, &claim().pay_to)),
        is_used: true,
        ..Said::default()
    };
    check(said(HEAD), 1, "5000000 by aa").await;
    check(said(HEAD), 2, "waiting").await;
    check(said(HEAD - 1), 2, "5000000 by aa").await;
}

#[tokio::test]
async fn a_payment_that_others_sent_counts_like_our_own() {
    let theirs = |block| Said {
        ours: Some(reverted(HEAD)),
        is_used: true,
        endings: vec![(THEIRS, receipt(THEIRS, block, &claim().pay_to))],
        ..Said::default()
    };
    check(theirs(HEAD), 1, "5000000 by bb").await;
    check(theirs(HEAD), 3, "waiting").await;
}

#[tokio::test]
async fn an_authorization_that_paid_somebody_else_pays_us_nothing() {
    let elsewhere = receipt(THEIRS, HEAD, "0x1111111111111111111111111111111111111111");
    let said = Said { is_used: true, endings: vec![(THEIRS, elsewhere)], ..Said::default() };
    check(said, 1, "invalid_exact_evm_nonce_already_used").await;
}

#[tokio::test]
async fn an_authorization_that_is_used_by_nobody_knows_whom_is_waited_for() {
    check(Said { is_used: true, ..Said::default() }, 1, "waiting").await;
    // Not even time rules it out: it was used before it expired.
    let late = Said { is_used: true, block_after_s: 86_400, ..Said::default() };
    check(late, 1, "waiting").await;
}

#[tokio::test]
async fn a_transaction_that_failed_is_over_once_it_is_deep_enough() {
    let said = |block| Said { ours: Some(reverted(block)), ..Said::default() };
    check(said(HEAD), 1, "invalid_exact_evm_transaction_failed").await;
    check(said(HEAD), 2, "waiting").await;
}

#[tokio::test]
async fn an_authorization_is_over_only_when_every_node_must_know_that_it_expired() {
    let said = |block_after_s| Said { block_after_s, ..Said::default() };
    check(said(0), 1, "waiting").await;
    check(said(300), 1, "waiting").await;
    check(said(359), 1, "waiting").await;
    check(said(360), 1, "invalid_exact_evm_payload_authorization_valid_before").await;
}

#[tokio::test]
async fn a_transaction_whose_number_went_to_another_is_nowhere() {
    check(Said { sent: 7, ..Said::default() }, 1, "waiting").await;
    check(Said { sent: 8, ..Said::default() }, 1, "unsent").await;
}

#[tokio::test]
async fn what_was_replaced_is_looked_for_too() {
    let replaced = || {
        let mut claim = claim();
        claim.sent.transaction = Some(THEIRS.to_owned());
        claim.sent.replaced = vec![OURS.to_owned()];
        claim
    };
    // The first one is mined, and its nonce is used: the second can never be mined.
    let mined = |ours| Said { ours: Some(ours), sent: 8, ..Said::default() };
    let moved = Said { is_used: true, ..mined(receipt(OURS, HEAD, &claim().pay_to)) };
    assert_eq!(word_for(&look_for(replaced(), moved, 1).await), "5000000 by aa");
    let failed = look_for(replaced(), mined(reverted(HEAD)), 1).await;
    assert_eq!(word_for(&failed), "invalid_exact_evm_transaction_failed");
}
