//! Nodes and facilitators that answer nonsense cause no panic and no credit.

use std::sync::Arc;

use moment::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};
use wallet::SolanaCluster;

use super::stub::{nodes, stub};
use super::world::{Payer, terms};
use crate::node::{CallError, ChainNode};
use crate::solana::SolanaChain;
use crate::{
    DirectSettler, EvmSetup, FacilitatorSettler, PaymentPreparation, PaymentSettler,
    SettlementOrder, SolanaCommitment, SolanaNode, WitnessNodes,
};

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        "0x[0-9a-f]{0,70}".prop_map(Value::from),
    ];
    let names = prop::sample::select(vec![
        "number",
        "timestamp",
        "value",
        "status",
        "logs",
        "success",
        "isValid",
        "transaction",
        "err",
        "meta",
        "kinds",
        "network",
        "blockNumber",
        "transactionHash",
        "refused",
    ]);
    leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((names.clone(), inner), 0..5).prop_map(|fields| {
                fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
            }),
        ]
    })
}

pub(super) fn order() -> SettlementOrder {
    let terms = terms();
    let payment = wallet::UnverifiedPayment::decode(Payer::new(1).header().as_bytes()).unwrap();
    let now = Timestamp::from_ms(super::world::NOW_S * 1000);
    let verdict = wallet::verify_payment(&terms, &payment, now).unwrap();
    let wallet::WalletVerdict::Verified(verified) = verdict else {
        panic!("it is signed with a key")
    };
    let requirement = terms.build_requirement(verified.network, verified.amount).unwrap();
    SettlementOrder { verified, payment, requirement }
}

async fn settlers(answer: Value) -> Vec<Box<dyn PaymentSettler>> {
    let url = stub(Arc::new(move |_, _| answer.clone())).await;
    let key = "0x0101010101010101010101010101010101010101010101010101010101010101";
    let setup = EvmSetup {
        nodes: nodes(&url),
        relayer_key: key,
        gas_price_max: 1,
        gas_max_per_hour: 1,
        replace_after: std::time::Duration::from_secs(30),
    };
    let solana = SolanaNode {
        url: &url,
        cluster: SolanaCluster::Mainnet,
        commitment: SolanaCommitment::Confirmed,
    };
    let witnesses = WitnessNodes { evm: Some(nodes(&url)), solana: Some(solana) };
    vec![
        Box::new(DirectSettler::new(Some(setup), None).unwrap()),
        Box::new(FacilitatorSettler::new(&url, &witnesses).unwrap()),
    ]
}

#[tokio::test]
async fn an_error_that_is_no_object_is_a_refusal() {
    for error in [json!("slow down"), json!(429), json!(true), json!(["slow down"]), json!({})] {
        let refused = json!({ "refused": error });
        for settler in settlers(refused.clone()).await {
            let prepared = settler.prepare(&order()).await;
            assert!(
                !matches!(prepared, Ok(PaymentPreparation::Moved(_))),
                "{refused}: {prepared:?}"
            );
        }
        let url = stub(Arc::new(move |_, _| refused.clone())).await;
        let called = ChainNode::new(&url).unwrap().call("eth_call", json!([])).await;
        let message = error.as_str().unwrap_or("no reason given");
        let Err(CallError::Refused { message: told, .. }) = called else { panic!("{called:?}") };
        assert_eq!(told, message);
    }
}

#[tokio::test]
async fn statuses_of_any_shape_tell_nothing() {
    for statuses in
        [json!("text"), json!(7), json!([]), json!({ "value": 7 }), json!({ "value": [] })]
    {
        let url = stub(Arc::new(move |_, _| statuses.clone())).await;
        let node = SolanaNode {
            url: &url,
            cluster: SolanaCluster::Mainnet,
            commitment: SolanaCommitment::Confirmed,
        };
        let status = SolanaChain::new(&node).unwrap().status("a signature").await;
        assert_eq!(status, Ok(Value::Null));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn an_answer_of_any_shape_moves_nothing(answer in any_json()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for settler in settlers(answer).await {
                let prepared = settler.prepare(&order()).await;
                assert!(!matches!(prepared, Ok(PaymentPreparation::Moved(_))), "{prepared:?}");
            }
        });
    }
}
