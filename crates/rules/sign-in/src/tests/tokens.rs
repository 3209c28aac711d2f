//! The signatures and forms of ID tokens.

use serde_json::{Value, json};

use super::world::{TestKey, accept, claims, claims_with, issuer, key_set, key_set_of, now, rules};
use crate::encoding::encode_base64url;
use crate::{
    IdTokenRefusal, IdTokenVerdict, KEYS_MAX, KeySet, KeySetFault, TokenAlgorithm, UserInfoFault,
    add_user_info, verify_id_token,
};

fn verify(keys: &KeySet, token: &str) -> Result<IdTokenVerdict, IdTokenRefusal> {
    verify_id_token(rules(&issuer()), keys, token, now())
}

#[test]
fn each_algorithm_is_accepted_with_its_key_and_no_other() {
    for algorithm in TokenAlgorithm::ALL {
        let key = TestKey::of_algorithm(algorithm);
        let head = json!({"alg": algorithm.name()});
        let token = key.token(algorithm, &head, &claims());
        let keys = key_set_of(&[key.jwk("k")]);
        let judged = verify(&keys, &token);
        assert!(matches!(judged, Ok(IdTokenVerdict::Verified(_))), "{algorithm:?}: {judged:?}");
        assert_eq!(TokenAlgorithm::parse(algorithm.name()), Some(algorithm));
        // A key that its set keeps for another algorithm.
        let mut kept = key.jwk("k");
        kept["alg"] =
            if algorithm == TokenAlgorithm::Rs256 { json!("PS256") } else { json!("RS256") };
        let others = key_set_of(&[kept, TestKey::RsaOther.jwk("o")]);
        let judged = verify(&others, &token);
        assert!(!matches!(judged, Ok(IdTokenVerdict::Verified(_))), "{algorithm:?}: {judged:?}");
    }
}

#[test]
fn a_signature_under_another_algorithm_of_the_same_key_is_refused() {
    let head = json!({"alg": "PS256", "kid": "rsa"});
    let token = TestKey::Rsa.token(TokenAlgorithm::Rs256, &head, &claims());
    assert_eq!(verify(&key_set(), &token), Err(IdTokenRefusal::Signature));
    let head = json!({"alg": "RS256", "kid": "p256"});
    let token = TestKey::P256.token(TokenAlgorithm::Es256, &head, &claims());
    assert_eq!(verify(&key_set(), &token), Ok(IdTokenVerdict::FetchKeys), "no such RSA key");
}

#[test]
fn no_character_of_a_token_can_be_changed() {
    let head = json!({"alg": "EdDSA", "kid": "ed"});
    let token = TestKey::Ed25519.token(TokenAlgorithm::EdDsa, &head, &claims());
    let keys = key_set();
    assert!(matches!(verify(&keys, &token), Ok(IdTokenVerdict::Verified(_))));
    for index in 0..token.len() {
        let with = if &token[index..=index] == "A" { "B" } else { "A" };
        let mut changed = token.clone();
        changed.replace_range(index..=index, with);
        let judged = verify(&keys, &changed);
        assert!(!matches!(judged, Ok(IdTokenVerdict::Verified(_))), "{index} {with}");
    }
}

#[test]
fn tokens_for_other_uses_are_refused() {
    let judge_head = |head: Value| {
        verify(&key_set(), &TestKey::P256.token(TokenAlgorithm::Es256, &head, &claims()))
    };
    assert!(judge_head(json!({"alg": "ES256", "typ": "JWT"})).is_ok());
    for head in [
        json!({"alg": "ES256", "typ": "at+jwt"}),
        json!({"alg": "ES256", "typ": "logout+jwt"}),
        json!({"alg": "ES256", "typ": 1}),
        json!({"alg": "ES256", "crit": ["b64"], "b64": false}),
        json!({"alg": "ES256", "kid": 7}),
    ] {
        assert_eq!(judge_head(head.clone()), Err(IdTokenRefusal::Malformed), "{head}");
    }
    assert_eq!(judge_head(json!({"typ": "JWT"})), Err(IdTokenRefusal::Algorithm));
}

#[test]
fn texts_that_are_no_tokens_are_refused() {
    let long = format!("a.{}.a", "a".repeat(40_000));
    for text in ["", ".", "..", "a.b", "a.b.c.d", "e30.e30.AA==", "e30.e30.", &long] {
        assert_eq!(verify(&key_set(), text), Err(IdTokenRefusal::Malformed), "{text:.20}");
    }
    let list = encode_base64url(b"[]");
    assert_eq!(verify(&key_set(), &format!("{list}.{list}.AA")), Err(IdTokenRefusal::Malformed));
}

#[test]
fn keys_for_other_uses_and_weak_ones_are_skipped() {
    let with = |name: &str, value: Value| {
        let mut key = TestKey::Rsa.jwk("k");
        key[name] = value;
        key
    };
    let parse = |key: Value| KeySet::parse(json!({"keys": [key]}).to_string().as_bytes());
    assert!(parse(with("use", json!("sig"))).is_ok());
    assert!(parse(with("key_ops", json!(["verify"]))).is_ok());
    let small = encode_base64url(&[0xff; 128]);
    let large = encode_base64url(&[0xff; 1025]);
    for key in [
        with("use", json!("enc")),
        with("key_ops", json!(["encrypt"])),
        with("key_ops", json!("verify")),
        with("kty", json!("oct")),
        with("alg", json!("HS256")),
        with("alg", json!("RSA-OAEP")),
        with("n", json!(small)),
        with("n", json!(large)),
        with("n", json!("")),
        with("e", json!("")),
        with("e", json!(encode_base64url(&[1; 9]))),
        with("kid", json!(1)),
        with("kid", json!("x".repeat(257))),
        json!({"kty": "EC", "crv": "secp256k1", "x": "AA", "y": "AA"}),
        json!({"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}),
        json!({"kty": "OKP", "crv": "X25519", "x": encode_base64url(&[1; 32])}),
        json!("text"),
    ] {
        assert_eq!(parse(key.clone()), Err(KeySetFault::NoneUsable), "{key}");
    }
    let padded = [&[0, 0][..], &[0xff; 256]].concat();
    assert!(parse(with("n", json!(encode_base64url(&padded)))).is_ok(), "leading zeros are cut");
}

#[test]
fn key_sets_are_bounded() {
    assert_eq!(KeySet::parse(b"[]"), Err(KeySetFault::Malformed));
    assert_eq!(KeySet::parse(b"{}"), Err(KeySetFault::Malformed));
    assert_eq!(KeySet::parse(br#"{"keys":[]}"#), Err(KeySetFault::NoneUsable));
    let keys = |count| json!({"keys": vec![TestKey::Ed25519.jwk("k"); count]}).to_string();
    assert!(KeySet::parse(keys(KEYS_MAX).as_bytes()).is_ok());
    assert_eq!(KeySet::parse(keys(KEYS_MAX + 1).as_bytes()), Err(KeySetFault::TooMany));
    let padded = format!("{}{}", keys(1), " ".repeat(300_000));
    assert_eq!(KeySet::parse(padded.as_bytes()), Err(KeySetFault::Malformed));
}

#[test]
fn user_info_of_another_subject_is_refused_and_what_was_signed_stays() {
    let claims = accept(&claims_with(json!({"email": null, "name": null})));
    let add = |answer: Value| add_user_info(claims.clone(), answer.to_string().as_bytes(), false);
    let other = json!({"sub": "eve", "email": "ada@example.com", "email_verified": true});
    assert_eq!(add(other), Err(UserInfoFault::OtherSubject));
    assert_eq!(add(json!({"email": "ada@example.com"})), Err(UserInfoFault::OtherSubject));
    let ours = json!({"sub": "ada-17", "email": "ada@example.com", "email_verified": true});
    assert_eq!(add(ours).unwrap().verified_address().unwrap().as_str(), "ada@example.com");
    let signed = accept(&super::world::claims());
    let changed = json!({"sub": "ada-17", "email": "eve@example.com", "email_verified": true});
    let kept = add_user_info(signed.clone(), changed.to_string().as_bytes(), false).unwrap();
    assert_eq!(kept, signed);
    assert_eq!(add_user_info(signed, b"nothing", false), Err(UserInfoFault::Malformed));
}

#[test]
fn names_are_cleaned_and_cut() {
    let name = |text: &str| accept(&claims_with(json!({"name": text}))).name;
    assert_eq!(name("  Ada\u{0}\n Lovelace ").as_deref(), Some("Ada Lovelace"));
    assert_eq!(name(&"x".repeat(1000)).unwrap().len(), 100);
    assert_eq!(name("\n"), None);
}
