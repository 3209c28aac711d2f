//! Attacks by a payer on the EVM chain.

use alloy_primitives::{U256, hex};
use serde_json::{Value, json};

use super::world::{Payer, evm_terms, mirrored, now, terms, verdict};

const SIGNATURE: &str = "X402_INVALID_PAYMENT invalid_exact_evm_payload_signature";
const RECIPIENT: &str = "INVALID_PAYMENT_RECIPIENT invalid_exact_evm_payload_recipient_mismatch";
const MALFORMED: &str = "INVALID_PAYMENT_FORMAT invalid_payload";

/// Signs a valid payment, changes it, and checks the verdict.
#[track_caller]
fn check(change: impl FnOnce(&mut Value), expected: &str) {
    let payer = Payer::new(1);
    let mut json = payer.pay(&evm_terms(), &payer.authorization());
    change(&mut json);
    assert_eq!(verdict(&terms(), &json, now()), expected);
}

/// Without code at the payer's address, the contract check refuses it.
fn ask_the_payers_contract() -> String {
    format!("ask the contract at {}", Payer::new(1).address())
}

#[track_caller]
fn check_signature(signature: &[u8], expected: &str) {
    check(|json| json["payload"]["signature"] = json!(hex::encode_prefixed(signature)), expected);
}

fn honest_signature() -> [u8; 65] {
    let payer = Payer::new(1);
    payer.sign(payer.authorization().signing_digest(&evm_terms()))
}

#[test]
fn another_payer_cannot_be_named() {
    let victim = Payer::new(2).address();
    check(
        |json| json["payload"]["authorization"]["from"] = json!(victim.to_string()),
        &format!("ask the contract at {victim}"),
    );
}

#[test]
fn the_value_cannot_be_raised() {
    check(
        |json| json["payload"]["authorization"]["value"] = json!("9000000"),
        &ask_the_payers_contract(),
    );
}

#[test]
fn the_nonce_cannot_be_changed() {
    let other = hex::encode_prefixed([0xcd; 32]);
    check(
        |json| json["payload"]["authorization"]["nonce"] = json!(other),
        &ask_the_payers_contract(),
    );
}

#[test]
fn a_denied_contract_check_is_a_signature_refused() {
    let payer = Payer::new(1);
    let mut json = payer.pay(&evm_terms(), &payer.authorization());
    json["payload"]["authorization"]["value"] = json!("9000000");
    let Ok(crate::WalletVerdict::NeedsContractCheck(unconfirmed)) =
        super::world::judge(&terms(), &json, now())
    else {
        panic!("no key signed this");
    };
    let refusal = unconfirmed.to_refusal();
    assert_eq!(format!("{} {}", refusal.code(), refusal.reason()), SIGNATURE);
}

#[test]
fn paying_someone_else_is_refused_however_it_is_said() {
    let elsewhere = json!(Payer::new(3).address().to_string());
    check(|json| json["payload"]["authorization"]["to"] = elsewhere.clone(), RECIPIENT);
    check(
        |json| json["accepted"]["payTo"] = elsewhere.clone(),
        "INVALID_PAYMENT_RECIPIENT invalid_payment_requirements",
    );
    let payer = Payer::new(1);
    let mut authorization = payer.authorization();
    authorization.to = Payer::new(3).address();
    let mut json = payer.pay(&evm_terms(), &authorization);
    json["accepted"]["payTo"] = elsewhere;
    assert_eq!(
        verdict(&terms(), &json, now()),
        "INVALID_PAYMENT_RECIPIENT invalid_payment_requirements"
    );
}

#[test]
fn another_token_is_refused_though_it_is_signed_for() {
    let payer = Payer::new(1);
    let mut theirs = evm_terms();
    theirs.asset = Payer::new(3).address();
    let mut json = payer.pay(&theirs, &payer.authorization());
    assert_eq!(verdict(&terms(), &json, now()), ask_the_payers_contract());
    json["accepted"]["asset"] = json!(theirs.asset.to_string());
    assert_eq!(verdict(&terms(), &json, now()), "UNSUPPORTED_TOKEN invalid_payment_requirements");
}

#[test]
fn signing_for_another_chain_or_another_name_does_not_count() {
    let payer = Payer::new(1);
    let mut other_chain = evm_terms();
    other_chain.chain_id = 84532;
    let mut other_name = evm_terms();
    other_name.asset_name = "USDC".to_owned();
    let mut other_version = evm_terms();
    other_version.asset_version = "1".to_owned();
    for theirs in [other_chain, other_name, other_version] {
        let json = payer.pay(&theirs, &payer.authorization());
        assert_eq!(verdict(&terms(), &json, now()), ask_the_payers_contract());
    }
}

#[test]
fn a_network_that_is_not_offered_is_refused() {
    for network in ["eip155:1", "base-sepolia", "solana-devnet", "eip155:08453", "cosmos:hub", ""] {
        let refused = if network == "solana-devnet" {
            MALFORMED
        } else {
            "UNSUPPORTED_NETWORK invalid_network"
        };
        check(|json| json["accepted"]["network"] = json!(network), refused);
    }
}

#[test]
fn a_network_without_terms_is_refused() {
    let payer = Payer::new(1);
    let json = payer.pay(&evm_terms(), &payer.authorization());
    let mut solana_only = terms();
    solana_only.evm = None;
    assert_eq!(verdict(&solana_only, &json, now()), "UNSUPPORTED_NETWORK invalid_network");
}

#[test]
fn other_schemes_and_versions_are_refused() {
    check(
        |json| json["accepted"]["scheme"] = json!("upto"),
        "UNSUPPORTED_SCHEME unsupported_scheme",
    );
    for version in [0, 3, 99] {
        check(
            |json| json["x402Version"] = json!(version),
            "INVALID_PAYMENT_FORMAT invalid_x402_version",
        );
    }
}

#[test]
fn amounts_outside_the_bounds_are_refused() {
    let reason = "invalid_exact_evm_payload_authorization_value_mismatch";
    let payer = Payer::new(1);
    for (value, code) in [
        (U256::ZERO, "AMOUNT_TOO_LOW"),
        (U256::from(4_999_999), "AMOUNT_TOO_LOW"),
        (U256::from(10_000_000_001_u64), "AMOUNT_TOO_HIGH"),
        (U256::from(u64::MAX), "AMOUNT_TOO_HIGH"),
        (U256::MAX, "AMOUNT_TOO_HIGH"),
    ] {
        let mut authorization = payer.authorization();
        authorization.value = value;
        let json = payer.pay(&evm_terms(), &authorization);
        assert_eq!(verdict(&terms(), &json, now()), format!("{code} {reason}"));
    }
}

#[test]
fn numbers_that_are_not_plain_decimals_are_refused() {
    let beyond_256_bits = "9".repeat(78);
    for value in ["", "+5000000", "-1", "0x4c4b40", "5000000.0", "5e6", "05000000", " 5000000", "५"]
        .into_iter()
        .chain([beyond_256_bits.as_str()])
    {
        for field in ["value", "validAfter", "validBefore"] {
            check(|json| json["payload"]["authorization"][field] = json!(value), MALFORMED);
        }
    }
    check(|json| json["payload"]["authorization"]["value"] = json!(5_000_000), MALFORMED);
}

#[test]
fn expired_and_not_yet_valid_authorizations_are_refused() {
    let payer = Payer::new(1);
    let late = "PAYMENT_VERIFICATION_FAILED invalid_exact_evm_payload_authorization_valid_before";
    let early = "PAYMENT_VERIFICATION_FAILED invalid_exact_evm_payload_authorization_valid_after";
    let mut expired = payer.authorization();
    expired.valid_before = U256::from(1);
    let json = payer.pay(&evm_terms(), &expired);
    assert_eq!(verdict(&terms(), &json, now()), late);
    let mut future = payer.authorization();
    future.valid_after = U256::MAX;
    future.valid_before = U256::MAX;
    let json = payer.pay(&evm_terms(), &future);
    assert_eq!(verdict(&terms(), &json, now()), early);
}

#[test]
fn a_signature_with_a_high_s_is_refused() {
    check_signature(&mirrored(honest_signature()), SIGNATURE);
}

#[test]
fn a_signature_with_a_v_of_0_or_1_is_refused() {
    let mut signature = honest_signature();
    signature[64] -= 27;
    check_signature(&signature, SIGNATURE);
}

#[test]
fn a_compact_signature_of_64_bytes_is_refused() {
    let signature = honest_signature();
    let mut compact = [0; 64];
    compact.copy_from_slice(&signature[..64]);
    compact[32] |= (signature[64] - 27) << 7;
    check_signature(&compact, SIGNATURE);
}

#[test]
fn an_empty_signature_is_refused() {
    check_signature(&[], SIGNATURE);
}

#[test]
fn signatures_that_are_not_hexadecimal_or_too_long_are_refused() {
    let too_long = format!("0x{}", "00".repeat(crate::SIGNATURE_BYTES_MAX + 1));
    for signature in ["", "1234", "0x123", "0xzz", "0x0x12", too_long.as_str()] {
        check(|json| json["payload"]["signature"] = json!(signature), MALFORMED);
    }
}

#[test]
fn nobody_and_ourselves_cannot_pay() {
    let payer = "INVALID_PAYMENT_PAYER invalid_payload";
    for from in [[0; 20], evm_terms().pay_to.bytes()] {
        let from = hex::encode_prefixed(from);
        check(|json| json["payload"]["authorization"]["from"] = json!(from), payer);
    }
}

#[test]
fn missing_and_mistyped_parts_are_refused() {
    check(|json| json["payload"] = json!(null), MALFORMED);
    check(|json| json["payload"] = json!([]), MALFORMED);
    check(|json| json["accepted"] = json!(null), MALFORMED);
    check(|json| json["x402Version"] = json!("2"), MALFORMED);
    check(|json| json["payload"]["authorization"]["nonce"] = json!("0xab"), MALFORMED);
    check(|json| json["payload"]["authorization"]["from"] = json!("0x12"), MALFORMED);
    check(|json| *json = json!([1, 2]), MALFORMED);
}
