//! Signed texts that are accepted, and those that are refused.

use moment::Timestamp;
use serde_json::{Value, json};

use super::world::{BASE, Payer, header};
use crate::sign_in::{AccountKind, SignInMessage, SignInStatement};
use crate::{ChainNetwork, SignIn, SignInRules, SolanaCluster, WalletVerdict, verify_sign_in};

pub(super) const ISSUED_AT: &str = "2026-01-15T10:30:00.000Z";

pub(super) fn rules() -> SignInRules {
    SignInRules {
        domains: vec!["api.example.com".to_owned(), "localhost:8080".to_owned()],
        networks: vec![BASE, ChainNetwork::Solana(SolanaCluster::Mainnet)],
    }
}

pub(super) fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

pub(super) fn evm_message() -> SignInMessage {
    SignInMessage {
        domain: "api.example.com".to_owned(),
        account_kind: AccountKind::Ethereum,
        address: Payer::new(1).address().to_string(),
        statement: SignInStatement::Blank,
        uri: "https://api.example.com/api/v1/chat/completions".to_owned(),
        version: "1".to_owned(),
        chain_id: Some("8453".to_owned()),
        nonce: Some("a1b2c3d4e5f67890".to_owned()),
        issued_at: ISSUED_AT.to_owned(),
        expiration_time: None,
        not_before: None,
        request_id: None,
        resources: None,
    }
}

/// The header with the message text, signed by the first payer.
fn signed(message: &SignInMessage) -> Value {
    let text = message.to_string();
    json!({
        "address": message.address,
        "message": text,
        "signature": Payer::new(1).sign_text(&text),
        "chainId": 8453,
    })
}

/// The code of the verdict, or `ok`.
pub(super) fn verdict(json: &Value, now: &str) -> &'static str {
    let judged = SignIn::decode(header(json).as_bytes())
        .and_then(|sign_in| verify_sign_in(&rules(), &sign_in, at(now)));
    match judged {
        Ok(WalletVerdict::Verified(_)) => "ok",
        Ok(WalletVerdict::NeedsContractCheck(_)) => "ask the contract",
        Err(refusal) => refusal.code().strip_prefix("X402_SIGN_IN_").unwrap(),
    }
}

/// Changes the message before it is signed.
#[track_caller]
fn check(change: impl FnOnce(&mut SignInMessage), expected: &str) {
    let mut message = evm_message();
    change(&mut message);
    assert_eq!(verdict(&signed(&message), ISSUED_AT), expected, "{message}");
}

/// Changes the payload after the message was signed.
#[track_caller]
pub(super) fn check_payload(change: impl FnOnce(&mut Value), expected: &str) {
    let mut json = signed(&evm_message());
    change(&mut json);
    assert_eq!(verdict(&json, ISSUED_AT), expected, "{json}");
}

#[test]
fn a_signed_message_lets_its_wallet_in_for_five_minutes() {
    let json = signed(&evm_message());
    for (now, expected) in [
        ("2026-01-15T10:29:29.999Z", "FUTURE_TIMESTAMP"),
        ("2026-01-15T10:29:30.000Z", "ok"),
        ("2026-01-15T10:35:00.000Z", "ok"),
        ("2026-01-15T10:35:00.001Z", "EXPIRED"),
    ] {
        assert_eq!(verdict(&json, now), expected, "{now}");
    }
}

#[test]
fn the_nonce_is_to_be_remembered_for_as_long_as_the_message_could_be_used() {
    let sign_in = SignIn::decode(header(&signed(&evm_message())).as_bytes()).unwrap();
    let Ok(WalletVerdict::Verified(signed_in)) = verify_sign_in(&rules(), &sign_in, at(ISSUED_AT))
    else {
        panic!("an honest sign-in");
    };
    assert_eq!(signed_in.nonce, "a1b2c3d4e5f67890");
    assert_eq!(signed_in.network.to_string(), "eip155:8453");
    let until = signed_in.remember_nonce_until;
    assert!(verify_sign_in(&rules(), &sign_in, until).is_err());
}

#[test]
fn expiration_and_not_before_are_kept() {
    let later = || Some("2026-01-15T10:30:00.001Z".to_owned());
    let now = || Some(ISSUED_AT.to_owned());
    check(|message| message.expiration_time = later(), "ok");
    check(|message| message.expiration_time = now(), "EXPIRED");
    check(|message| message.not_before = now(), "ok");
    check(|message| message.not_before = later(), "NOT_BEFORE");
    let unreadable = || Some("soon".to_owned());
    check(|message| message.expiration_time = unreadable(), "INVALID_MESSAGE");
    check(|message| message.not_before = unreadable(), "INVALID_MESSAGE");
    check(|message| message.issued_at = "2026-01-15".to_owned(), "INVALID_MESSAGE");
}

#[test]
fn a_timestamp_must_be_near_the_time_of_issue() {
    let issued_ms = at(ISSUED_AT).ms();
    for (apart_ms, expected) in [
        (0, "ok"),
        (30_000, "ok"),
        (-30_000, "ok"),
        (30_001, "TIMESTAMP_MISMATCH"),
        (-30_001, "TIMESTAMP_MISMATCH"),
    ] {
        check_payload(|json| json["timestamp"] = json!(issued_ms + apart_ms), expected);
    }
    check_payload(|json| json["timestamp"] = json!(1_768_473_000_000.5), "ok");
    check_payload(|json| json["timestamp"] = json!(1e300), "TIMESTAMP_MISMATCH");
    check_payload(|json| json["timestamp"] = json!(i64::MAX), "TIMESTAMP_MISMATCH");
    check_payload(|json| json["timestamp"] = json!(i64::MIN), "TIMESTAMP_MISMATCH");
}

#[test]
fn the_domain_must_be_ours_with_or_without_its_port() {
    let ours = ["api.example.com", "API.example.com", "api.example.com:443", "localhost:8080"];
    for domain in ours.into_iter().chain(["localhost", "https://api.example.com"]) {
        check(|message| message.domain = domain.to_owned(), "ok");
    }
    for domain in [
        "evil.example",
        "api.example.com.evil.example",
        "evil-api.example.com",
        "localhost:9999",
        "api.example.com@evil.example",
        "api.example.com:443:1",
        "",
    ] {
        check(|message| message.domain = domain.to_owned(), "DOMAIN_MISMATCH");
    }
}

#[test]
fn the_uri_must_have_our_origin_and_not_merely_begin_like_it() {
    for uri in ["https://api.example.com", "http://localhost:8080/x?y#z", "https://localhost"] {
        check(|message| message.uri = uri.to_owned(), "ok");
    }
    for uri in [
        "https://api.example.com.evil.example/",
        "https://api.example.com@evil.example/",
        "https://evil.example/?https://api.example.com",
        "api.example.com",
        "ftp://api.example.com",
        "",
    ] {
        check(|message| message.uri = uri.to_owned(), "DOMAIN_MISMATCH");
    }
}

#[test]
fn a_nonce_is_eight_or_more_letters_and_digits() {
    let long = "a".repeat(128);
    let too_long = "a".repeat(129);
    for (nonce, expected) in [
        ("abcd1234", "ok"),
        (long.as_str(), "ok"),
        ("abcd123", "INVALID_MESSAGE"),
        (too_long.as_str(), "INVALID_MESSAGE"),
        ("abcd-1234", "INVALID_MESSAGE"),
        ("", "MISSING_NONCE"),
    ] {
        check(|message| message.nonce = Some(nonce.to_owned()), expected);
    }
    check(|message| message.nonce = None, "MISSING_NONCE");
}

#[test]
fn only_version_one_is_known() {
    check(|message| message.version = "2".to_owned(), "INVALID_MESSAGE");
}

#[test]
fn the_address_must_be_the_one_in_the_message() {
    let other = Payer::new(2).address();
    check_payload(|json| json["address"] = json!(other.to_string()), "ADDRESS_MISMATCH");
    check_payload(|json| json["address"] = json!("0x12"), "INVALID_WALLET");
    let lower = evm_message().address.to_lowercase();
    check_payload(|json| json["address"] = json!(lower), "ok");
}

#[test]
fn chain_ids_have_three_forms_and_must_agree() {
    for chain_id in [json!(8453), json!("8453"), json!("eip155:8453"), json!(null)] {
        check_payload(|json| json["chainId"] = chain_id, "ok");
    }
    for chain_id in [json!(1), json!("eip155:1"), json!("solana")] {
        check_payload(|json| json["chainId"] = chain_id, "CHAIN_MISMATCH");
    }
    for chain_id in [json!(-1), json!(1.5), json!("0x2105"), json!("eip155:x"), json!([])] {
        check_payload(|json| json["chainId"] = chain_id, "INVALID_CHAIN_ID");
    }
    check_payload(|json| json["chainId"] = json!("cosmos:hub"), "UNSUPPORTED_CHAIN");
}

#[test]
fn a_message_for_another_chain_is_refused() {
    let without_chain_beside = |chain_id: Option<&str>| {
        let mut message = evm_message();
        message.chain_id = chain_id.map(str::to_owned);
        let mut json = signed(&message);
        json["chainId"] = json!(null);
        verdict(&json, ISSUED_AT)
    };
    assert_eq!(without_chain_beside(Some("8453")), "ok");
    assert_eq!(without_chain_beside(Some("eip155:8453")), "ok");
    assert_eq!(without_chain_beside(Some("1")), "UNSUPPORTED_CHAIN");
    assert_eq!(without_chain_beside(None), "UNSUPPORTED_CHAIN");
    assert_eq!(without_chain_beside(Some("mainnet")), "INVALID_CHAIN_ID");
    assert_eq!(without_chain_beside(Some("5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp")), "CHAIN_MISMATCH");
}
