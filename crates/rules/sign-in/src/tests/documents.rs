//! Providers' metadata and addresses.

use serde_json::{Value, json};

use super::world::{ISSUER, issuer};
use crate::{
    ClientAuthentication, DiscoveryFault, GithubEndpoints, IssuerUrl, ProviderMetadata,
    ProviderUrl, TokenAlgorithm,
};

fn document(changes: Value) -> Vec<u8> {
    let mut document = json!({
        "issuer": ISSUER,
        "authorization_endpoint": "https://sso.example.com/authorize?tenant=7",
        "token_endpoint": "https://tokens.example.net/token",
        "jwks_uri": "https://sso.example.com/keys",
    });
    for (name, value) in changes.as_object().unwrap() {
        document[name] = value.clone();
    }
    document.to_string().into_bytes()
}

fn parse(changes: Value) -> Result<ProviderMetadata, DiscoveryFault> {
    ProviderMetadata::parse(&issuer(), &document(changes))
}

#[test]
fn metadata_with_the_least_fields_has_the_standards_defaults() {
    let metadata = parse(json!({})).unwrap();
    assert_eq!(metadata.algorithms, TokenAlgorithm::ALL);
    assert_eq!(metadata.client_authentication, ClientAuthentication::Basic);
    assert_eq!((metadata.userinfo_endpoint, metadata.end_session_endpoint), (None, None));
    assert!(!metadata.names_issuer);
}

#[test]
fn metadata_that_cannot_be_used_says_why() {
    let algorithms = |list: Value| json!({"id_token_signing_alg_values_supported": list});
    let some = parse(algorithms(json!(["none", "HS256", "RS256", "RS256"]))).unwrap();
    assert_eq!(some.algorithms, [TokenAlgorithm::Rs256]);
    let none = parse(algorithms(json!(["HS256", "none"])));
    assert_eq!(none, Err(DiscoveryFault::NoAlgorithm));
    let methods = |list: Value| json!({"token_endpoint_auth_methods_supported": list});
    let posted = parse(methods(json!(["client_secret_post"]))).unwrap();
    assert_eq!(posted.client_authentication, ClientAuthentication::Post);
    let key = parse(methods(json!(["private_key_jwt"])));
    assert_eq!(key, Err(DiscoveryFault::NoClientAuthentication));
    let implicit = parse(json!({"response_types_supported": ["id_token"]}));
    assert_eq!(implicit, Err(DiscoveryFault::NoCodeFlow));
    for (name, value) in [
        ("token_endpoint", json!(null)),
        ("token_endpoint", json!("http://sso.example.com/token")),
        ("jwks_uri", json!("https://user@sso.example.com/keys")),
        ("jwks_uri", json!("file:///etc/passwd")),
        ("userinfo_endpoint", json!(7)),
        ("authorization_endpoint", json!("javascript:alert(1)")),
    ] {
        let mut changes = json!({});
        changes[name] = value;
        assert_eq!(parse(changes), Err(DiscoveryFault::Endpoint(name)), "{name}");
    }
    assert_eq!(ProviderMetadata::parse(&issuer(), b"[]"), Err(DiscoveryFault::Malformed));
    let long = document(json!({"padding": "x".repeat(200_000)}));
    assert_eq!(ProviderMetadata::parse(&issuer(), &long), Err(DiscoveryFault::Malformed));
}

#[test]
fn addresses_of_providers_are_protected_or_on_this_machine() {
    for text in [
        "https://sso.example.com",
        "https://sso.example.com:8443/realms/a",
        "http://localhost:34567",
        "http://127.0.0.1:1/x",
        "http://[::1]/",
    ] {
        assert!(ProviderUrl::parse(text).is_some() && IssuerUrl::parse(text).is_some(), "{text}");
    }
    for text in [
        "",
        "sso.example.com",
        "http://sso.example.com",
        "http://localhost.evil.example.com",
        "http://127.0.0.1.evil.example.com",
        "https://a:b@sso.example.com",
        "https://sso.example.com/#x",
        "https://sso.example.com/a b",
        "https://sso.example.com\\evil",
        "https://",
        "data:text/html,x",
    ] {
        assert_eq!(ProviderUrl::parse(text), None, "{text}");
    }
    assert_eq!(IssuerUrl::parse("https://sso.example.com/?a=b"), None);
    let realm = IssuerUrl::parse("https://sso.example.com/realms/a/").unwrap();
    let expected = "https://sso.example.com/realms/a/.well-known/openid-configuration";
    assert_eq!(realm.discovery_url(), expected);
    assert_eq!(GithubEndpoints::new("http://github.com", "https://api.github.com"), None);
    assert_eq!(GithubEndpoints::new("https://github.com?x", "https://api.github.com"), None);
}
