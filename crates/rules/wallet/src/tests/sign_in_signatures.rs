//! The signatures of sign-ins: their signers and formats, and the challenge.

use ed25519_dalek::{Signer, SigningKey};
use serde_json::{Value, json};

use super::sign_in::{ISSUED_AT, at, check_payload, evm_message, rules, verdict};
use super::world::{Payer, header, mirrored};
use crate::sign_in::{AccountKind, SignInMessage, SignInStatement, WalletChallenge};
use crate::solana::base58_signature;
use crate::{SignIn, SignInRefusal, SolanaAddress};

#[test]
fn a_signature_of_another_form_is_still_the_wallets() {
    let text = evm_message().to_string();
    let signature = Payer::new(1).sign(alloy_primitives::eip191_hash_message(&text).0);
    let mut bare = signature;
    bare[64] -= 27;
    let mut compact = signature[..64].to_vec();
    compact[32] |= (signature[64] - 27) << 7;
    let of = |bytes: &[u8]| json!(alloy_primitives::hex::encode_prefixed(bytes));
    check_payload(|json| json["signature"] = of(&bare), "ok");
    check_payload(|json| json["signature"] = of(&compact), "ok");
    check_payload(|json| json["signature"] = of(&mirrored(signature)), "INVALID_SIGNATURE");
}

#[test]
fn what_no_key_signed_is_a_question_to_the_contract() {
    let text = evm_message().to_string();
    let forged = Payer::new(2).sign_text(&text);
    check_payload(|json| json["signature"] = json!(forged), "ask the contract");
    check_payload(|json| json["signature"] = json!("0x1234"), "ask the contract");
    for signature in ["", "0x", "0x123", "zz", "1234"] {
        check_payload(|json| json["signature"] = json!(signature), "INVALID_SIGNATURE");
    }
}

#[test]
fn fields_with_line_breaks_cannot_make_one_text_pass_for_another() {
    let mut json = json!({
        "domain": "api.example.com",
        "address": Payer::new(1).address().to_string(),
        "uri": "https://api.example.com",
        "version": "1",
        "chainId": "eip155:8453",
        "type": "eip191",
        "nonce": "a1b2c3d4e5f67890",
        "issuedAt": ISSUED_AT,
    });
    let sign = |json: &mut Value| {
        json["signature"] = json!("0x");
        let text = SignIn::decode(header(json).as_bytes()).map(|sign_in| sign_in.text);
        json["signature"] = json!(Payer::new(1).sign_text(&text.unwrap_or_default()));
    };
    sign(&mut json);
    assert_eq!(verdict(&json, ISSUED_AT), "ok");
    for (field, value) in [
        ("requestId", "x\nResources:\n- y"),
        ("uri", "https://api.example.com\nVersion: 1"),
        ("statement", "hello\nworld"),
        ("nonce", "a1b2c3d4\nIssued At: 2020-01-01T00:00:00Z"),
        ("domain", "api.example.com wants you to sign in with your Ethereum account:\n0x"),
    ] {
        let mut broken = json.clone();
        broken[field] = json!(value);
        sign(&mut broken);
        assert_eq!(verdict(&broken, ISSUED_AT), "INVALID_MESSAGE", "{field}");
    }
    let mut resources = json.clone();
    resources["resources"] = json!(["https://a\nb"]);
    assert_eq!(verdict(&resources, ISSUED_AT), "INVALID_MESSAGE");
}

#[test]
fn incomplete_payloads_are_refused() {
    check_payload(|json| json["message"] = json!("hello"), "PARSE_ERROR");
    check_payload(|json| json["message"] = json!(null), "INVALID_PAYLOAD");
    check_payload(|json| json["signature"] = json!(null), "INVALID_PAYLOAD");
    check_payload(|json| json["address"] = json!(7), "INVALID_PAYLOAD");
    check_payload(|json| json["type"] = json!("ed25519"), "INVALID_PAYLOAD");
    check_payload(|json| json["timestamp"] = json!("now"), "INVALID_PAYLOAD");
    check_payload(|json| *json = json!([]), "INVALID_PAYLOAD");
}

/// The header with the message text on Solana, and its signature.
fn solana_signed(text_of: impl FnOnce(SignInMessage) -> SignInMessage) -> (Value, [u8; 64]) {
    let key = SigningKey::from_bytes(&[5; 32]);
    let address = SolanaAddress::from_bytes(key.verifying_key().to_bytes()).to_string();
    let message = text_of(SignInMessage {
        account_kind: AccountKind::Solana,
        address: address.clone(),
        statement: SignInStatement::Omitted,
        chain_id: Some("5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp".to_owned()),
        ..evm_message()
    });
    let text = message.to_string();
    let signature = key.sign(text.as_bytes()).to_bytes();
    let json = json!({
        "address": address,
        "message": text,
        "signature": base58_signature(&signature),
        "type": "ed25519",
        "chainId": "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
    });
    (json, signature)
}

#[test]
fn solana_wallets_sign_in_base58_or_base64() {
    use base64::Engine;
    use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
    let (mut json, signature) = solana_signed(|message| message);
    assert_eq!(verdict(&json, ISSUED_AT), "ok");
    for encoded in [STANDARD.encode(signature), STANDARD_NO_PAD.encode(signature)] {
        json["signature"] = json!(encoded);
        assert_eq!(verdict(&json, ISSUED_AT), "ok");
    }
    json["signature"] = json!(STANDARD.encode([1; 64]));
    assert_eq!(verdict(&json, ISSUED_AT), "INVALID_SIGNATURE");
}

#[test]
fn solana_messages_may_name_their_chain_in_full_and_no_other() {
    let with_chain = |chain_id: &str| {
        let chain_id = Some(chain_id.to_owned());
        let (mut json, _) = solana_signed(|message| SignInMessage { chain_id, ..message });
        json["chainId"] = json!(null);
        verdict(&json, ISSUED_AT)
    };
    assert_eq!(with_chain("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"), "ok");
    assert_eq!(with_chain("EtWTRABZaYq6iMfeYKouRu166VU2xqa1"), "UNSUPPORTED_CHAIN");
    assert_eq!(with_chain("8453"), "CHAIN_MISMATCH");
}

#[test]
fn the_challenge_names_the_site_the_moment_and_the_chains() {
    let uri = "https://api.example.com/api/v1/chat/completions";
    let challenge =
        WalletChallenge::new(&rules(), "api.example.com", uri, [0xab; 16], at(ISSUED_AT));
    let json = challenge.to_extension();
    assert_eq!(
        json["info"],
        json!({
            "domain": "api.example.com",
            "uri": uri,
            "version": "1",
            "nonce": "abababababababababababababababab",
            "issuedAt": ISSUED_AT,
            "expirationTime": "2026-01-15T10:35:00.000Z",
            "statement": "Sign in to the service",
            "resources": [uri],
        })
    );
    assert_eq!(
        json["supportedChains"],
        json!([
            { "chainId": "eip155:8453", "type": "eip191" },
            { "chainId": "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "type": "ed25519" },
        ])
    );
    assert_eq!(json!(challenge)["info"], json["info"]);
}

#[test]
fn an_answered_challenge_signs_in() {
    let uri = "http://localhost:8080/api/v1/embeddings";
    let challenge =
        WalletChallenge::new(&rules(), "localhost:8080", uri, [0xab; 16], at(ISSUED_AT));
    let mut json = json!(challenge.info);
    json["address"] = json!(Payer::new(1).address().to_string());
    json["chainId"] = json!(challenge.supported_chains[0].chain_id);
    json["type"] = json!(challenge.supported_chains[0].kind);
    json["signature"] = json!("0x");
    let text = SignIn::decode(header(&json).as_bytes()).unwrap().text;
    json["signature"] = json!(Payer::new(1).sign_text(&text));
    assert_eq!(verdict(&json, "2026-01-15T10:34:59.999Z"), "ok");
    assert_eq!(verdict(&json, "2026-01-15T10:35:00.000Z"), "EXPIRED");
    assert_eq!(SignInRefusal::NonceReused.code(), "X402_SIGN_IN_NONCE_REUSED");
}
