//! Tests of the allowlist: its order, its tiers, and its refusals.

use expect_test::{Expect, expect};

use super::*;

#[track_caller]
fn check(network: &str, methods: &[&str], expected: Expect) {
    let network = RpcNetwork::parse(network).expect("a network of the specification");
    let mut lines = String::new();
    for name in methods {
        let verdict = match RpcMethod::parse(name, network) {
            Ok(method) => format!("{}x {:?}", method.tier.multiplier(), method.effect),
            Err(why) => why.advice(),
        };
        lines.push_str(&format!("{name}: {verdict}\n"));
    }
    expected.assert_eq(&lines);
}

#[test]
fn the_table_is_sorted_and_names_no_method_twice() {
    assert!(METHODS.is_sorted_by(|a, b| a.name < b.name));
    for (name, _) in NEVER {
        let is_also_served = METHODS.iter().any(|it| it.name == *name);
        assert!(!is_also_served, "{name} is both served and refused");
        let times = NEVER.iter().filter(|it| it.0 == *name).count();
        assert_eq!(times, 1, "{name}");
    }
}

#[test]
fn the_examples_of_the_specification_have_its_tiers() {
    check(
        "ethereum-mainnet",
        &["eth_call", "eth_sendRawTransaction", "trace_call", "debug_traceTransaction"],
        expect![[r#"
            eth_call: 1x Read
            eth_sendRawTransaction: 1x RawTransaction
            trace_call: 2x Read
            debug_traceTransaction: 2x Read
        "#]],
    );
    check(
        "arbitrum-mainnet",
        &[
            "txpool_content",
            "trace_replayTransaction",
            "arbtrace_call",
            "arbtrace_replayTransaction",
        ],
        expect![[r#"
            txpool_content: 4x Read
            trace_replayTransaction: 4x Read
            arbtrace_call: 2x Read
            arbtrace_replayTransaction: 4x Read
        "#]],
    );
}

#[test]
fn what_clients_ask_before_anything_else_is_served_on_every_evm_chain() {
    let names = ["eth_chainId", "eth_gasPrice", "eth_feeHistory", "eth_maxPriorityFeePerGas"];
    for network in RpcNetwork::all().filter(|it| it.family() != ChainFamily::Starknet) {
        for name in names {
            assert!(RpcMethod::parse(name, network).is_ok(), "{name} on {network}");
        }
    }
}

#[test]
fn a_method_of_another_family_is_refused_and_its_home_is_named() {
    check(
        "base-mainnet",
        &["starknet_call", "zks_getProof", "bor_getAuthor", "linea_estimateGas", "arbtrace_call"],
        expect![[r#"
            starknet_call: served only on starknet
            zks_getProof: served only on zksync
            bor_getAuthor: served only on polygon
            linea_estimateGas: served only on linea
            arbtrace_call: served only on arbitrum
        "#]],
    );
    check(
        "starknet-sepolia",
        &["starknet_call", "eth_call"],
        expect![[r#"
        starknet_call: 1x Read
        eth_call: served only on every EVM chain
    "#]],
    );
}

#[test]
fn subscriptions_filters_and_keys_are_refused_with_what_to_do_instead() {
    check(
        "ethereum-mainnet",
        &["eth_subscribe", "eth_newFilter", "eth_accounts", "eth_sendTransaction"],
        expect![[r#"
            eth_subscribe: subscriptions need a WebSocket; poll over HTTP instead
            eth_newFilter: filters exist on one node only; use eth_getLogs instead
            eth_accounts: the nodes have no keys; sign locally and use eth_sendRawTransaction
            eth_sendTransaction: the nodes have no keys; sign locally and use eth_sendRawTransaction
        "#]],
    );
}

#[test]
fn names_are_exact_so_a_prefix_lets_nothing_through() {
    check(
        "ethereum-mainnet",
        &["debug_setHead", "eth_Call", "eth_call ", "admin_addPeer", "", "zks_"],
        expect![[r#"
            debug_setHead: not on the list of served methods
            eth_Call: not on the list of served methods
            eth_call : not on the list of served methods
            admin_addPeer: not on the list of served methods
            : not on the list of served methods
            zks_: not on the list of served methods
        "#]],
    );
}

#[test]
fn networks_are_sorted_and_priced_as_the_specification_says() {
    let slugs: Vec<&str> = RpcNetwork::all().map(RpcNetwork::slug).collect();
    assert!(slugs.is_sorted());
    assert_eq!(slugs.len(), 23);
    for network in RpcNetwork::all() {
        let family = network.family().name();
        assert!(network.slug().starts_with(&format!("{family}-")), "{network}");
        let expected = if family == "zksync" { 30 } else { 20 };
        assert_eq!(network.base_credits(), expected, "{network}");
        assert_eq!(network.sku(), format!("crypto-rpc-{network}"));
    }
    assert_eq!(RpcNetwork::parse("ethereum-goerli"), None);
    let starknet = RpcNetwork::parse("starknet-sepolia").expect("served");
    assert_eq!(starknet.chain_id(), 0x534e_5f53_4550_4f4c_4941);
}

#[test]
fn the_markdown_has_a_row_for_every_method() {
    let page = render_method_table();
    assert_eq!(
        page.lines().filter(|it| it.starts_with("| `")).count(),
        METHODS.len() + NEVER.len()
    );
    assert!(page.contains("| `eth_call` | Standard | 1x | every EVM chain |\n"));
    assert!(page.contains("| `txpool_content` | Large | 4x | every EVM chain |\n"));
}

/// `UPDATE_EXPECT=1 cargo test -p rpc methods` rewrites the page.
#[test]
fn the_documentation_has_the_table_of_the_code() {
    expect_test::expect_file!["../../../../../docs/rpc-methods.md"].assert_eq(&render_page());
}
