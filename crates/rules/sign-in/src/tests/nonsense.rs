//! No document or token of anyone causes a panic.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use super::world::{TestKey, claims, issuer, judge, key_set, now, rules};
use crate::{
    GithubEndpoints, IdTokenVerdict, KeySet, ProviderMetadata, TokenAlgorithm, TokenAnswer,
    read_github_addresses, read_github_user, verify_id_token,
};

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
        "https?://[a-z.:/@-]{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| vec(inner, 0..4).prop_map(Value::from))
}

fn read_all(bytes: &[u8]) {
    let _ = KeySet::parse(bytes);
    let _ = ProviderMetadata::parse(&issuer(), bytes);
    let _ = TokenAnswer::parse(bytes);
    let github = GithubEndpoints::new("https://github.com", "https://api.github.com").unwrap();
    let _ = read_github_user(&github, bytes);
    let _ = read_github_addresses(bytes);
}

#[test]
fn deep_nesting_is_refused() {
    let nested = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    read_all(nested.as_bytes());
    read_all(format!("{{\"keys\":{nested}}}").as_bytes());
    let part = crate::encoding::encode_base64url(&nested.as_bytes()[..20_000]);
    let judged = verify_id_token(rules(&issuer()), &key_set(), &format!("{part}.e30.AA"), now());
    assert!(judged.is_err());
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_survived(bytes in vec(any::<u8>(), 0..300)) {
        read_all(&bytes);
    }

    #[test]
    fn any_part_of_a_document_may_be_anything(at in any::<Index>(), with in any_json()) {
        let recorded: Value =
            serde_json::from_str(include_str!("../../fixtures/oidc_provider.json")).unwrap();
        for field in ["discovery", "keys"] {
            let mut document: Value =
                serde_json::from_str(recorded[field].as_str().unwrap()).unwrap();
            let object = document.as_object_mut().unwrap();
            let name = object.keys().nth(at.index(object.len())).unwrap().clone();
            object[&name] = with.clone();
            read_all(document.to_string().as_bytes());
        }
        let mut key = TestKey::P256.jwk("k");
        let object = key.as_object_mut().unwrap();
        let name = object.keys().nth(at.index(object.len())).unwrap().clone();
        object[&name] = with;
        read_all(json!({"keys": [key]}).to_string().as_bytes());
    }

    #[test]
    fn any_claim_and_head_may_be_anything(at in any::<Index>(), with in any_json()) {
        let mut changed = claims();
        let object = changed.as_object_mut().unwrap();
        let name = object.keys().nth(at.index(object.len())).unwrap().clone();
        object[&name] = with.clone();
        if let Ok(IdTokenVerdict::Verified(found)) = judge(&changed) {
            prop_assert_eq!(found.identity.issuer(), super::world::ISSUER);
            prop_assert_eq!(Some(found.identity.subject()), changed["sub"].as_str());
        }
        let mut head = json!({"alg": "ES256", "kid": "p256", "typ": "JWT"});
        let name = ["alg", "kid", "typ", "crit", "jwk"][at.index(5)];
        head[name] = with;
        let token = TestKey::P256.token(TokenAlgorithm::Es256, &head, &claims());
        let _ = verify_id_token(rules(&issuer()), &key_set(), &token, now());
    }

    #[test]
    fn arbitrary_texts_are_no_tokens(text in "[A-Za-z0-9_.=-]{0,200}") {
        let judged = verify_id_token(rules(&issuer()), &key_set(), &text, now());
        prop_assert!(!matches!(judged, Ok(IdTokenVerdict::Verified(_))));
    }
}
