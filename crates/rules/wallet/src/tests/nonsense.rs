//! No input of a caller or a node causes a panic, and no tampering goes unnoticed.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use super::clients::{fixture, rules, signing_time};
use super::solana::judge;
use super::solana_world::Draft;
use super::world::{header, now, terms, unheader};
use crate::evm::TransactionReceipt;
use crate::sign_in::SignInMessage;
use crate::{
    HEADER_BYTES_MAX, SignIn, TokenSecret, UnverifiedPayment, WalletVerdict, verify_payment,
    verify_sign_in, verify_web3_key,
};

/// Runs everything that can be done with a header.
fn use_header(header: &[u8]) {
    if let Ok(payment) = UnverifiedPayment::decode(header) {
        let _ = verify_payment(&terms(), &payment, now());
    }
    if let Ok(sign_in) = SignIn::decode(header) {
        let _ = verify_sign_in(&rules(), &sign_in, signing_time());
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
        "0x[0-9a-f]{0,140}".prop_map(Value::from),
        "[0-9]{1,80}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| vec(inner, 0..4).prop_map(Value::from))
}

/// Collects the JSON pointers of all values within a value.
fn places(value: &Value, here: &str, found: &mut Vec<String>) {
    found.push(here.to_owned());
    if let Some(object) = value.as_object() {
        for (name, inner) in object {
            places(inner, &format!("{here}/{name}"), found);
        }
    }
}

fn replaced(mut json: Value, place: Index, with: Value) -> Value {
    let mut found = Vec::new();
    places(&json, "", &mut found);
    let pointer = &found[place.index(found.len())];
    *json.pointer_mut(pointer).unwrap() = with;
    json
}

#[test]
fn a_header_beyond_the_bound_is_not_looked_at() {
    let padding = "x".repeat(HEADER_BYTES_MAX);
    let mut json = unheader(&fixture("payment_evm"));
    json["padding"] = json!(padding);
    assert_eq!(
        UnverifiedPayment::decode(header(&json).as_bytes()).unwrap_err().code(),
        "INVALID_PAYMENT_FORMAT"
    );
    assert!(SignIn::decode(header(&json).as_bytes()).is_err());
}

#[test]
fn deep_nesting_is_refused() {
    let nested = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    use base64::Engine;
    use_header(base64::engine::general_purpose::STANDARD.encode(nested).as_bytes());
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_refused(bytes in vec(any::<u8>(), 0..300)) {
        prop_assert!(UnverifiedPayment::decode(&bytes).is_err());
        prop_assert!(SignIn::decode(&bytes).is_err());
    }

    #[test]
    fn arbitrary_json_is_survived(json in any_json()) {
        use_header(header(&json).as_bytes());
        let _ = TransactionReceipt::parse(&json);
    }

    #[test]
    fn any_part_of_a_payload_may_be_anything(
        name in prop::sample::select(vec![
            "payment_evm", "payment_solana", "fields_evm", "fields_solana", "message_evm",
        ]),
        place in any::<Index>(),
        with in any_json(),
    ) {
        use_header(header(&replaced(unheader(&fixture(name)), place, with)).as_bytes());
    }

    #[test]
    fn arbitrary_transactions_are_survived(bytes in vec(any::<u8>(), 0..400)) {
        prop_assert!(judge(&terms(), &bytes).is_err());
    }

    #[test]
    fn no_byte_of_a_signed_transaction_can_be_changed(at in any::<Index>(), flip in 1_u8..) {
        let mut bytes = Draft::honest().signed();
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        prop_assert!(judge(&terms(), &bytes).is_err(), "byte {}", at);
    }

    #[test]
    fn no_byte_of_a_signed_message_can_be_changed(at in any::<Index>(), with in "[ -~\n]") {
        let mut json = unheader(&fixture("message_evm"));
        let mut text = json["message"].as_str().unwrap().to_owned();
        let at = at.index(text.len());
        let is_same = text[at..=at] == with;
        text.replace_range(at..=at, &with);
        json["message"] = json!(text);
        let judged = SignIn::decode(header(&json).as_bytes())
            .and_then(|sign_in| verify_sign_in(&rules(), &sign_in, signing_time()));
        prop_assert_eq!(matches!(judged, Ok(WalletVerdict::Verified(_))), is_same);
    }

    #[test]
    fn arbitrary_texts_are_survived(text in "(?s).{0,200}", more in "[\n:. -z]{0,200}") {
        let _ = SignInMessage::parse(&text);
        let _ = SignInMessage::parse(&more);
        let secret = TokenSecret([1; 32]);
        prop_assert!(verify_web3_key(&secret, &text, &more, &text, now()).is_err());
        let address = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
        prop_assert!(verify_web3_key(&secret, address, &more, &text, now()).is_err());
    }
}
