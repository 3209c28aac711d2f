//! Tests of which results may be cached for ever.

use super::*;
use crate::batch::CallBatch;

const HASH: &str = "0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

#[track_caller]
fn check(slug: &str, method: &str, params: &str, expected: bool) {
    let network = RpcNetwork::parse(slug).expect("served");
    let body = format!(r#"{{"id":1,"method":"{method}","params":{params}}}"#);
    let batch = CallBatch::parse(network, body.as_bytes()).expect("a good call");
    assert_eq!(is_immutable(&batch.calls()[0], network), expected, "{slug} {method} {params}");
}

#[test]
fn chain_ids_and_blocks_by_hash_never_change() {
    check("base-mainnet", "eth_chainId", "[]", true);
    check("starknet-mainnet", "starknet_chainId", "[]", true);
    check("base-mainnet", "eth_getBlockByHash", &format!(r#"["{HASH}",true]"#), true);
    check("base-mainnet", "eth_getBlockReceipts", &format!(r#"[ "{HASH}" ]"#), true);
}

#[test]
fn what_can_change_is_not_kept() {
    check("base-mainnet", "eth_getBlockReceipts", r#"["latest"]"#, false);
    check("base-mainnet", "eth_getBlockReceipts", r#"["0x10"]"#, false);
    check("base-mainnet", "eth_getBlockByHash", r#"[]"#, false);
    check("base-mainnet", "eth_getBlockByNumber", r#"["0x10",true]"#, false);
    check("base-mainnet", "eth_getTransactionByHash", &format!(r#"["{HASH}"]"#), false);
    check("base-mainnet", "eth_getTransactionReceipt", &format!(r#"["{HASH}"]"#), false);
    check("base-mainnet", "eth_blockNumber", "[]", false);
    check("zksync-mainnet", "eth_getBlockByHash", &format!(r#"["{HASH}",true]"#), false);
}

#[test]
fn nothing_is_no_answer_to_keep() {
    for nothing in ["null", r#""0x""#, "[]", "{}", r#""""#] {
        assert!(!has_content(nothing), "{nothing}");
    }
    assert!(has_content(r#""0x1""#));
}
