//! Contract wallets: signatures that no key made are checked by the contract.

use alloy_primitives::hex;
use alloy_sol_types::SolValue;
use serde_json::json;

use super::world::{Payer, evm_terms, judge, now, terms};
use crate::evm::PayerSignature;
use crate::{ContractCheck, PendingContractCheck, SettlementData, VerifiedPayment, WalletVerdict};

const MAGIC_SUFFIX: [u8; 32] =
    hex!("6492649264926492649264926492649264926492649264926492649264926492");

/// A payment from a contract's address, with any signature.
#[track_caller]
fn unconfirmed(signature: &[u8]) -> PendingContractCheck<VerifiedPayment> {
    let payer = Payer::new(1);
    let mut json = payer.pay(&evm_terms(), &payer.authorization());
    json["payload"]["signature"] = json!(hex::encode_prefixed(signature));
    match judge(&terms(), &json, now()) {
        Ok(WalletVerdict::NeedsContractCheck(payment)) => payment,
        other => panic!("expected a question to the contract, not {other:?}"),
    }
}

#[test]
fn a_signature_of_any_length_is_put_to_the_contract() {
    let digest = Payer::new(1).authorization().signing_digest(&evm_terms());
    for length in [1, 32, 63, 64, 65, 66, 130, crate::SIGNATURE_BYTES_MAX] {
        let signature = vec![7; length];
        let payment = unconfirmed(&signature);
        assert_eq!(payment.check.account, Payer::new(1).address());
        assert_eq!(payment.check.digest, digest);
        assert_eq!(payment.check.signature, signature);
    }
}

#[test]
fn a_confirmed_payment_is_settled_in_the_form_for_contracts() {
    let payment = unconfirmed(&[7; 130]).confirmed_by_contract();
    let SettlementData::Evm(payment) = payment.settlement else { panic!("paid on the EVM chain") };
    assert_eq!(payment.signature, PayerSignature::ByContract(vec![7; 130]));
    // transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)
    assert_eq!(payment.calldata()[..4], hex!("cf092995"));
}

#[test]
fn the_call_carries_the_digest_and_the_signature() {
    let check = unconfirmed(&[7; 65]).check;
    let call = check.encode_call();
    // isValidSignature(bytes32,bytes)
    assert_eq!(call[..4], hex!("1626ba7e"));
    assert_eq!(call[4..36], check.digest);
    assert_eq!(call[100..165], [7; 65]);
}

#[test]
fn only_the_whole_magic_word_confirms() {
    let mut yes = [0; 32];
    yes[..4].copy_from_slice(&hex!("1626ba7e"));
    assert!(ContractCheck::is_confirmed_by(&yes));
    let mut no = yes;
    no[31] = 1;
    let refusals: [&[u8]; 5] = [&no, &[], &yes[..4], &[0xff; 32], &[0; 32]];
    for refusal in refusals {
        assert!(!ContractCheck::is_confirmed_by(refusal), "{refusal:?}");
    }
}

#[test]
fn a_wallet_that_is_not_deployed_is_unwrapped_and_named_as_such() {
    let factory = Payer::new(9).address();
    let wrapped = (factory.inner(), vec![1_u8, 2, 3], vec![7_u8; 65]);
    let wrapped = (
        wrapped.0,
        alloy_primitives::Bytes::from(wrapped.1),
        alloy_primitives::Bytes::from(wrapped.2),
    );
    let signature = [wrapped.abi_encode_params(), MAGIC_SUFFIX.to_vec()].concat();
    let payment = unconfirmed(&signature);
    assert_eq!(payment.check.signature, vec![7; 65]);
    let deployment = payment.check.deployment.clone().unwrap();
    assert_eq!((deployment.factory, deployment.calldata), (factory, vec![1, 2, 3]));
    assert_eq!(payment.to_refusal().reason(), "invalid_exact_evm_payload_undeployed_smart_wallet");
}

#[test]
fn a_broken_wrapping_is_a_broken_signature() {
    let payer = Payer::new(1);
    let mut json = payer.pay(&evm_terms(), &payer.authorization());
    let signature = [vec![7; 40], MAGIC_SUFFIX.to_vec()].concat();
    json["payload"]["signature"] = json!(hex::encode_prefixed(signature));
    let refusal = judge(&terms(), &json, now()).unwrap_err();
    assert_eq!(refusal.reason(), "invalid_exact_evm_payload_signature");
}
