//! Valid payments on the EVM chain.

use alloy_primitives::{U256, hex};
use expect_test::expect;
use moment::Timestamp;
use serde_json::json;

use super::world::{Payer, evm_terms, judge, now, terms, verdict};
use crate::evm::{SETTLE_MARGIN_S, authorization_state_call, balance_call, returned_flag};
use crate::{SettlementData, VerifiedPayment, WalletVerdict};

fn pays(units: u64) -> String {
    format!("{} pays {units} on eip155:8453", hex::encode_prefixed(Payer::new(1).address().bytes()))
}

#[track_caller]
fn verified(json: &serde_json::Value) -> VerifiedPayment {
    match judge(&terms(), json, now()) {
        Ok(WalletVerdict::Verified(payment)) => payment,
        other => panic!("not verified: {other:?}"),
    }
}

#[test]
fn any_amount_from_the_minimum_to_the_maximum_is_taken() {
    let payer = Payer::new(1);
    for units in [5_000_000, 5_000_001, 10_000_000, 10_000_000_000] {
        let mut authorization = payer.authorization();
        authorization.value = U256::from(units);
        let json = payer.pay(&evm_terms(), &authorization);
        assert_eq!(verdict(&terms(), &json, now()), pays(units));
    }
}

#[test]
fn what_the_client_says_it_accepted_is_never_used() {
    let payer = Payer::new(1);
    let mut json = payer.pay(&evm_terms(), &payer.authorization());
    json["accepted"]["amount"] = json!("1");
    json["accepted"]["maxTimeoutSeconds"] = json!(1);
    json["accepted"]["extra"] = json!({ "name": "Other", "version": "9" });
    json["accepted"]["asset"] = json!(evm_terms().asset.to_string().to_lowercase());
    assert_eq!(verdict(&terms(), &json, now()), pays(5_000_000));
}

#[test]
fn an_authorization_is_taken_from_its_first_second_to_the_margin_before_its_last() {
    let payer = Payer::new(1);
    let mut authorization = payer.authorization();
    authorization.valid_after = U256::from(1_000);
    authorization.valid_before = U256::from(2_000);
    let json = payer.pay(&evm_terms(), &authorization);
    let last_s = 2_000 - i64::try_from(SETTLE_MARGIN_S).unwrap();
    let early = "PAYMENT_VERIFICATION_FAILED invalid_exact_evm_payload_authorization_valid_after";
    let late = "PAYMENT_VERIFICATION_FAILED invalid_exact_evm_payload_authorization_valid_before";
    let expected =
        [(999, early), (1_000, &pays(5_000_000)), (last_s, &pays(5_000_000)), (last_s + 1, late)];
    for (second, expected) in expected {
        let now = Timestamp::from_ms(second * 1000);
        assert_eq!(verdict(&terms(), &json, now), expected, "at {second}");
    }
}

#[test]
fn a_payment_keeps_its_id_whatever_is_signed_around_its_nonce() {
    let payer = Payer::new(1);
    let authorization = payer.authorization();
    let id = verified(&payer.pay(&evm_terms(), &authorization)).id;
    let mut larger = authorization.clone();
    larger.value = U256::from(6_000_000);
    assert_eq!(verified(&payer.pay(&evm_terms(), &larger)).id, id);
    let mut next = authorization.clone();
    next.nonce = [0xac; 32];
    assert_ne!(verified(&payer.pay(&evm_terms(), &next)).id, id);
    let other = Payer::new(2);
    assert_ne!(verified(&other.pay(&evm_terms(), &other.authorization())).id, id);
    expect!["pay_9d6559711df92e62c4a8b87754b35333f1c1b2dd"].assert_eq(&id.to_string());
}

#[test]
fn the_calldata_is_what_the_token_expects() {
    let payer = Payer::new(1);
    let payment = verified(&payer.pay(&evm_terms(), &payer.authorization()));
    let SettlementData::Evm(payment) = payment.settlement else { panic!("paid on the EVM chain") };
    let calldata = payment.calldata();
    // transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)
    assert_eq!(calldata[..4], hex!("e3ee160e"));
    assert_eq!(calldata.len(), 4 + 9 * 32);
    assert_eq!(calldata[4 + 12..4 + 32], payer.address().bytes());
    let v = calldata[4 + 7 * 32 - 1];
    assert!(v == 27 || v == 28);
    assert_eq!(authorization_state_call(&payment.authorization)[..4], hex!("e94a0102"));
    assert_eq!(balance_call(payer.address())[..4], hex!("70a08231"));
}

#[test]
fn a_flag_is_one_whole_word() {
    let mut word = [0; 32];
    assert_eq!(returned_flag(&word), Some(false));
    word[31] = 1;
    assert_eq!(returned_flag(&word), Some(true));
    word[0] = 1;
    assert_eq!(returned_flag(&word), None);
    assert_eq!(returned_flag(&[]), None);
}

#[test]
fn a_facilitator_is_asked_about_the_signed_amount_and_our_own_terms() {
    let payer = Payer::new(1);
    let mut authorization = payer.authorization();
    authorization.value = U256::from(7_000_000);
    let mut json = payer.pay(&evm_terms(), &authorization);
    json["accepted"]["amount"] = json!("1");
    let payment = crate::UnverifiedPayment::decode(super::world::header(&json).as_bytes()).unwrap();
    let verified = verified(&json);
    let requirement = terms().build_requirement(verified.network, verified.amount).unwrap();
    let request = payment.facilitator_request(&requirement);
    assert_eq!(request["paymentRequirements"]["amount"], "7000000");
    assert_eq!(request["paymentPayload"]["accepted"], request["paymentRequirements"]);
    assert_eq!(request["paymentPayload"]["payload"], json["payload"]);
}
