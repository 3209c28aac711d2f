//! Nodes that refuse a call: only a contract that ran and reverted is a definite no.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use wallet::ContractCheck;

use super::sightings::{self, Said};
use super::stub::{nodes, stub};
use crate::evm::{EvmChain, EvmRelayer};
use crate::node::CallError;
use crate::{ChainSighting, EvmSetup, SettleFailure};

/// Errors of nodes that are throttled, behind, or broken.
const NOT_A_NO: [(i64, &str); 6] = [
    (-32005, "limit exceeded"),
    (429, "Your app has exceeded its compute units per second capacity"),
    (-32000, "header not found"),
    (-32603, "internal error"),
    (-32601, "the method eth_call does not exist/is not available"),
    (-32000, "missing trie node 5ab0"),
];

fn refused(code: i64, message: &str, data: &Value) -> Value {
    json!({ "refused": { "code": code, "message": message, "data": data } })
}

async fn chain_that_refuses(method: &'static str, refusal: Value, said: Said) -> EvmChain {
    let answers = move |asked: &str, params: &Value| {
        if asked == method { refusal.clone() } else { sightings::answer(&said, asked, params) }
    };
    EvmChain::new(&nodes(&stub(Arc::new(answers)).await)).unwrap()
}

fn too_late() -> Said {
    Said { block_after_s: 600, ..Said::default() }
}

#[tokio::test]
async fn a_node_that_will_not_say_whether_an_authorization_is_used_has_not_said_no() {
    for (code, message) in NOT_A_NO {
        let refusal = refused(code, message, &Value::Null);
        let chain = chain_that_refuses("eth_call", refusal, too_late()).await;
        let looked = chain.look_up(&sightings::claim(), None).await;
        assert!(matches!(looked, Err(SettleFailure::Unable(_))), "{message}: {looked:?}");
    }
    // With a result, the same claim has expired.
    let chain = chain_that_refuses("nothing", Value::Null, too_late()).await;
    let looked = chain.look_up(&sightings::claim(), None).await;
    assert!(matches!(looked, Ok(ChainSighting::Never(_))), "{looked:?}");
}

#[tokio::test]
async fn a_node_that_does_not_show_the_token_knows_nothing_about_an_authorization() {
    let chain = chain_that_refuses("eth_call", json!("0x"), too_late()).await;
    let looked = chain.look_up(&sightings::claim(), None).await;
    assert!(matches!(looked, Err(SettleFailure::Unable(_))), "{looked:?}");
}

#[tokio::test]
async fn a_contract_wallet_is_denied_by_its_contract_and_by_no_node() {
    let check = ContractCheck {
        account: wallet::EvmAddress::from_bytes([7; 20]),
        digest: [1; 32],
        signature: vec![1],
        deployment: None,
    };
    let code = |refusal: Value| {
        Arc::new(move |asked: &str, _: &Value| match asked {
            "eth_getCode" => json!("0x01"),
            _ => refusal.clone(),
        })
    };
    for (number, message) in NOT_A_NO {
        let url = stub(code(refused(number, message, &Value::Null))).await;
        let confirmed = EvmChain::new(&nodes(&url)).unwrap().confirms_signature(&check).await;
        assert!(confirmed.is_err(), "{message}: {confirmed:?}");
    }
    let url = stub(code(refused(3, "execution reverted", &json!("0x")))).await;
    assert_eq!(EvmChain::new(&nodes(&url)).unwrap().confirms_signature(&check).await, Ok(false));
}

#[tokio::test]
async fn a_forged_sign_in_costs_one_call_and_a_precompiled_contract_confirms_nothing() {
    let check = ContractCheck {
        account: wallet::EvmAddress::from_bytes([7; 20]),
        digest: [1; 32],
        signature: vec![1],
        deployment: None,
    };
    let magic = format!("0x1626ba7e{}", "0".repeat(56));
    for (returned, code, expected, calls) in [
        ("0x", "0x", false, 1),
        (magic.as_str(), "0x", false, 2),
        (magic.as_str(), "0x01", true, 2),
    ] {
        let asked = Arc::new(AtomicUsize::new(0));
        let (count, returned) = (Arc::clone(&asked), returned.to_owned());
        let url = stub(Arc::new(move |method: &str, _: &Value| {
            count.fetch_add(1, Ordering::Relaxed);
            json!(if method == "eth_getCode" { code } else { returned.as_str() })
        }))
        .await;
        let confirmed = EvmChain::new(&nodes(&url)).unwrap().confirms_signature(&check).await;
        assert_eq!(confirmed, Ok(expected));
        assert_eq!(asked.load(Ordering::Relaxed), calls);
    }
}

#[test]
fn reverts_are_recognised_as_the_usual_nodes_tell_them() {
    let refused = |code, message: &str, data: Value| CallError::Refused {
        what: "eth_call",
        code,
        message: message.to_owned(),
        data,
    };
    let reverts = [
        (3, "execution reverted: FiatTokenV2: invalid signature", json!("0x08c379a0")),
        (-32000, "execution reverted", Value::Null),
        (-32015, "VM execution error.", json!("Reverted 0x")),
        (-32603, "VM Exception while processing transaction: revert", Value::Null),
        (-32000, "invalid opcode: INVALID", Value::Null),
    ];
    for (code, message, data) in reverts {
        assert!(refused(code, message, data).is_revert(), "{message}");
    }
    for (code, message) in NOT_A_NO {
        assert!(!refused(code, message, Value::Null).is_revert(), "{message}");
    }
    let lost = CallError::Lost { what: "eth_call", cause: "reverted by a proxy".into() };
    assert!(!lost.is_revert());
}

#[tokio::test]
async fn a_number_that_is_used_does_not_say_that_a_first_send_failed() {
    for (message, is_sure) in
        [("nonce too low", false), ("limit exceeded", false), ("transaction underpriced", true)]
    {
        let refusal = refused(-32000, message, &Value::Null);
        let url = stub(Arc::new(move |_: &str, _: &Value| refusal.clone())).await;
        let relayer = EvmRelayer::new(&EvmSetup {
            nodes: nodes(&url),
            relayer_key: "0x0101010101010101010101010101010101010101010101010101010101010101",
            gas_price_max: 1,
            gas_max_per_hour: 1,
            replace_after: std::time::Duration::from_secs(10),
        })
        .unwrap();
        let sent = relayer.send(&sightings::claim()).await;
        let is_unsent = matches!(sent, Ok(ChainSighting::Unsent(_)));
        assert_eq!(is_unsent, is_sure, "{message}: {sent:?}");
    }
}
