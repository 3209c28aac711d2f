//! ID tokens: only claims that the provider has signed, for us, are accepted.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use moment::Timestamp;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use sign_in::{
    IdTokenRefusal, IdTokenRules, IdTokenVerdict, IssuerUrl, KeySet, SUBJECT_BYTES_MAX,
    TokenAlgorithm, verify_id_token,
};

const ISSUER: &str = "https://sso.example.com";
const CLIENT: &str = "tollgate";
const NOW_S: i64 = 1_795_000_000;

/// Takes the input as a token, and as the claims of one that the provider signs.
pub(crate) fn id_token(bytes: &[u8]) -> bool {
    let pair = Ed25519KeyPair::from_seed_unchecked(&[9; 32]).expect("a seed has 32 bytes");
    let x = URL_SAFE_NO_PAD.encode(pair.public_key().as_ref());
    let keys = json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "k", "x": x}]}).to_string();
    let keys = KeySet::parse(keys.as_bytes()).expect("the key is sound");
    let judged = verify(&keys, &String::from_utf8_lossy(bytes));
    assert!(!matches!(judged, Ok(IdTokenVerdict::Verified(_))), "nobody signed: {judged:?}");

    let head = URL_SAFE_NO_PAD.encode(r#"{"alg":"EdDSA","kid":"k"}"#);
    let signed = format!("{head}.{}", URL_SAFE_NO_PAD.encode(bytes));
    let signature = pair.sign(signed.as_bytes());
    let mut signature = signature.as_ref().to_vec();
    let judged = verify(&keys, &format!("{signed}.{}", URL_SAFE_NO_PAD.encode(&signature)));
    let position = bytes.len() % signature.len();
    signature[position] ^= 1;
    let spoiled = verify(&keys, &format!("{signed}.{}", URL_SAFE_NO_PAD.encode(&signature)));
    assert!(!matches!(spoiled, Ok(IdTokenVerdict::Verified(_))), "a spoiled signature");
    let Ok(verdict) = judged else { return false };
    let IdTokenVerdict::Verified(found) = verdict else {
        panic!("the key is known: {verdict:?}");
    };
    let claims: Value = serde_json::from_slice(bytes).expect("accepted claims are JSON");
    assert_eq!(found.identity.issuer(), ISSUER);
    assert_eq!(claims["iss"], ISSUER);
    assert_eq!(claims["nonce"], "n-1");
    assert_eq!(claims["sub"], found.identity.subject());
    assert!((1..=SUBJECT_BYTES_MAX).contains(&found.identity.subject().len()));
    let audiences: Vec<&Value> = match &claims["aud"] {
        Value::Array(list) => list.iter().collect(),
        one => vec![one],
    };
    assert!(audiences.iter().any(|it| **it == CLIENT));
    assert!(audiences.len() == 1 || claims["azp"] == CLIENT);
    assert!(NOW_S < claims["exp"].as_f64().expect("a number").ceil() as i64 + 60);
    if found.verified_address().is_some() {
        assert_eq!(claims["email_verified"], true);
    }
    true
}

fn verify(keys: &KeySet, token: &str) -> Result<IdTokenVerdict, IdTokenRefusal> {
    let issuer = IssuerUrl::parse(ISSUER).expect("an https address");
    let rules = IdTokenRules {
        issuer: &issuer,
        client_id: CLIENT,
        algorithms: &TokenAlgorithm::ALL,
        nonce: "n-1",
        trusts_addresses: false,
    };
    verify_id_token(rules, keys, token, Timestamp::from_ms(NOW_S * 1000))
}
