//! Tests of prices against the specification's numbers.

use proptest::prelude::*;

use super::*;
use CallOutcome::{Error, Result, Unavailable};

fn batch(network: &str, methods: &[&str]) -> CallBatch {
    let items: Vec<String> =
        methods.iter().map(|it| format!(r#"{{"id":1,"method":"{it}"}}"#)).collect();
    let network = RpcNetwork::parse(network).expect("a network of the specification");
    CallBatch::parse(network, format!("[{}]", items.join(",")).as_bytes()).expect("served methods")
}

#[track_caller]
fn check(network: &str, calls: &[(&str, CallOutcome)], most: u32, charged: u32) {
    let methods: Vec<&str> = calls.iter().map(|it| it.0).collect();
    let outcomes: Vec<CallOutcome> = calls.iter().map(|it| it.1).collect();
    let batch = batch(network, &methods);
    assert_eq!((most_credits(&batch), charged_credits(&batch, &outcomes)), (most, charged));
}

#[test]
fn a_result_costs_the_chain_times_the_tier() {
    check("ethereum-mainnet", &[("eth_call", Result)], 20, 20);
    check("ethereum-mainnet", &[("trace_call", Result)], 40, 40);
    check("ethereum-mainnet", &[("txpool_content", Result)], 80, 80);
    check("zksync-sepolia", &[("zks_getProof", Result)], 30, 30);
    check("zksync-sepolia", &[("debug_traceCall", Result)], 60, 60);
    check("starknet-mainnet", &[("starknet_call", Result)], 20, 20);
}

#[test]
fn a_good_and_a_bad_call_cost_twenty_five() {
    check("ethereum-mainnet", &[("eth_chainId", Result), ("eth_getBalance", Error)], 40, 25);
}

#[test]
fn an_error_costs_five_whatever_the_tier_and_silence_nothing() {
    let calls = [("txpool_content", Error), ("txpool_content", Unavailable), ("eth_call", Error)];
    check("zksync-mainnet", &calls, 270, 10);
}

#[test]
fn the_cost_is_exact_and_shown_with_eight_decimals() {
    let cost = CreditPrice::DEFAULT.cost(20);
    assert_eq!(cost.nanos(), 12_500);
    assert_eq!(cost.to_fixed(8).to_string(), "0.00001250");
}

#[test]
fn a_price_is_between_nothing_and_a_dollar() {
    let price = |nanos| CreditPrice::new(Nano::from_nanos(nanos));
    assert_eq!(price(-1), None);
    assert_eq!(price(1_000_000_001), None);
    let dearest = price(1_000_000_000).expect("a dollar is allowed");
    assert_eq!(dearest.cost(u32::MAX).nanos(), 4_294_967_295_000_000_000);
    assert_eq!(price(0).expect("free is allowed").cost(u32::MAX), Nano::ZERO);
}

proptest! {
    #[test]
    fn never_more_is_charged_than_was_held(
        calls in proptest::collection::vec(
            (
                prop::sample::select(vec!["eth_call", "trace_call", "txpool_content"]),
                prop::sample::select(vec![Result, Error, Unavailable]),
            ),
            1..100,
        ),
    ) {
        let methods: Vec<&str> = calls.iter().map(|it| it.0).collect();
        let outcomes: Vec<CallOutcome> = calls.iter().map(|it| it.1).collect();
        let batch = batch("zksync-mainnet", &methods);
        prop_assert!(charged_credits(&batch, &outcomes) <= most_credits(&batch));
    }
}
