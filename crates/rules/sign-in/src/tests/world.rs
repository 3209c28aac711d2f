//! Keys that sign, tokens, and the provider and client of most tests.

use moment::Timestamp;
use ring::rand::SystemRandom;
use ring::rsa::{KeyPair as RsaKeyPair, PublicKeyComponents};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    KeyPair, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::encoding::encode_base64url;
use crate::{
    AttemptPurpose, AttemptSigner, ClaimedAddress, ClientCredentials, IdTokenRefusal, IdTokenRules,
    IdTokenVerdict, IdentityClaims, IssuerUrl, KeySet, MailAddress, PersonId, PersonIdentity,
    ReturnPath, SignInAttempt, SignInProviderId, TokenAlgorithm, verify_id_token,
};

pub(super) const ISSUER: &str = "https://sso.example.com";
pub(super) const CLIENT: &str = "tollgate";
pub(super) const NONCE: &str = "n-0S6_WzA2Mj";
pub(super) const NOW_S: i64 = 1_795_000_000;

/// Made by openssl once, and used for nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TestKey {
    Rsa,
    RsaOther,
    P256,
    P384,
    Ed25519,
}

impl TestKey {
    pub(super) fn of_algorithm(algorithm: TokenAlgorithm) -> TestKey {
        match algorithm {
            TokenAlgorithm::Es256 => TestKey::P256,
            TokenAlgorithm::Es384 => TestKey::P384,
            TokenAlgorithm::EdDsa => TestKey::Ed25519,
            _ => TestKey::Rsa,
        }
    }

    fn rsa(self) -> RsaKeyPair {
        let document: &[u8] = match self {
            TestKey::RsaOther => include_bytes!("../../fixtures/keys/rsa_other.p8"),
            _ => include_bytes!("../../fixtures/keys/rsa.p8"),
        };
        RsaKeyPair::from_pkcs8(document).unwrap()
    }

    fn curve(self) -> EcdsaKeyPair {
        let (algorithm, document): (_, &[u8]) = match self {
            TestKey::P384 => {
                (&ECDSA_P384_SHA384_FIXED_SIGNING, include_bytes!("../../fixtures/keys/p384.p8"))
            }
            _ => (&ECDSA_P256_SHA256_FIXED_SIGNING, include_bytes!("../../fixtures/keys/p256.p8")),
        };
        EcdsaKeyPair::from_pkcs8(algorithm, document, &SystemRandom::new()).unwrap()
    }

    fn edwards() -> Ed25519KeyPair {
        let document = include_bytes!("../../fixtures/keys/ed25519.p8");
        Ed25519KeyPair::from_pkcs8_maybe_unchecked(document).unwrap()
    }

    pub(super) fn jwk(self, id: &str) -> Value {
        let point = |half: &[u8]| encode_base64url(half);
        match self {
            TestKey::Rsa | TestKey::RsaOther => {
                let public: PublicKeyComponents<Vec<u8>> = self.rsa().public().into();
                json!({"kty": "RSA", "kid": id, "n": point(&public.n), "e": point(&public.e)})
            }
            TestKey::P256 | TestKey::P384 => {
                let curve = if self == TestKey::P256 { "P-256" } else { "P-384" };
                let pair = self.curve();
                let (x, y) = {
                    let whole = &pair.public_key().as_ref()[1..];
                    let (x, y) = whole.split_at(whole.len() / 2);
                    (point(x), point(y))
                };
                json!({"kty": "EC", "kid": id, "crv": curve, "x": x, "y": y})
            }
            TestKey::Ed25519 => {
                let x = point(TestKey::edwards().public_key().as_ref());
                json!({"kty": "OKP", "kid": id, "crv": "Ed25519", "x": x})
            }
        }
    }

    fn sign(self, algorithm: TokenAlgorithm, text: &str) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            TestKey::Rsa | TestKey::RsaOther => {
                let pair = self.rsa();
                let encoding: &dyn ring::signature::RsaEncoding = match algorithm {
                    TokenAlgorithm::Rs384 => &RSA_PKCS1_SHA384,
                    TokenAlgorithm::Rs512 => &RSA_PKCS1_SHA512,
                    TokenAlgorithm::Ps256 => &RSA_PSS_SHA256,
                    _ => &RSA_PKCS1_SHA256,
                };
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(encoding, &random, text.as_bytes(), &mut signature).unwrap();
                signature
            }
            TestKey::P256 | TestKey::P384 => {
                self.curve().sign(&random, text.as_bytes()).unwrap().as_ref().to_vec()
            }
            TestKey::Ed25519 => TestKey::edwards().sign(text.as_bytes()).as_ref().to_vec(),
        }
    }

    /// A token with this head and these claims, signed by the key for the algorithm.
    pub(super) fn token(self, algorithm: TokenAlgorithm, head: &Value, claims: &Value) -> String {
        let part = |value: &Value| encode_base64url(value.to_string().as_bytes());
        let signed = format!("{}.{}", part(head), part(claims));
        let signature = encode_base64url(&self.sign(algorithm, &signed));
        format!("{signed}.{signature}")
    }
}

/// The keys under the ids of their algorithms' kinds.
pub(super) fn key_set() -> KeySet {
    key_set_of(&[
        TestKey::Rsa.jwk("rsa"),
        TestKey::P256.jwk("p256"),
        TestKey::P384.jwk("p384"),
        TestKey::Ed25519.jwk("ed"),
    ])
}

pub(super) fn key_set_of(keys: &[Value]) -> KeySet {
    KeySet::parse(json!({"keys": keys}).to_string().as_bytes()).unwrap()
}

pub(super) fn now() -> Timestamp {
    Timestamp::from_ms(NOW_S * 1000)
}

pub(super) fn issuer() -> IssuerUrl {
    IssuerUrl::parse(ISSUER).unwrap()
}

pub(super) fn claims() -> Value {
    json!({
        "iss": ISSUER, "sub": "ada-17", "aud": CLIENT, "nonce": NONCE,
        "iat": NOW_S - 1, "exp": NOW_S + 300,
        "email": "Ada@Example.com", "email_verified": true, "name": "Ada Lovelace",
    })
}

/// The claims with some replaced; `null` removes one.
pub(super) fn claims_with(changes: Value) -> Value {
    let mut claims = claims();
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            claims.as_object_mut().unwrap().remove(name);
        } else {
            claims[name] = value.clone();
        }
    }
    claims
}

pub(super) fn rules(issuer: &IssuerUrl) -> IdTokenRules<'_> {
    IdTokenRules {
        issuer,
        client_id: CLIENT,
        algorithms: &TokenAlgorithm::ALL,
        nonce: NONCE,
        trusts_addresses: false,
    }
}

/// Verifies claims that the provider has signed with ES256.
pub(super) fn judge(claims: &Value) -> Result<IdTokenVerdict, IdTokenRefusal> {
    let head = json!({"alg": "ES256", "kid": "p256", "typ": "JWT"});
    let token = TestKey::P256.token(TokenAlgorithm::Es256, &head, claims);
    verify_id_token(rules(&issuer()), &key_set(), &token, now())
}

/// The claims of a token that must be valid.
#[track_caller]
pub(super) fn accept(claims: &Value) -> IdentityClaims {
    match judge(claims) {
        Ok(IdTokenVerdict::Verified(claims)) => claims,
        other => panic!("{other:?}"),
    }
}

pub(super) fn provider_id(text: &str) -> SignInProviderId {
    SignInProviderId::parse(text).unwrap()
}

pub(super) fn signer() -> AttemptSigner {
    AttemptSigner::new(&[7; 32])
}

pub(super) fn attempt() -> SignInAttempt {
    let path = ReturnPath::parse("/#/keys").unwrap();
    SignInAttempt::begin([5; 16], provider_id("corp"), AttemptPurpose::SignIn, path, now())
}

pub(super) fn client() -> ClientCredentials {
    ClientCredentials { id: CLIENT.to_owned(), secret: Some("p:ss%w0rd+/".to_owned()) }
}

pub(super) fn person(number: u128) -> PersonId {
    PersonId(Uuid::from_u128(number))
}

pub(super) fn address(text: &str) -> MailAddress {
    MailAddress::parse(text).unwrap()
}

pub(super) fn identity_claims(subject: &str, mail: Option<(&str, bool)>) -> IdentityClaims {
    IdentityClaims {
        identity: PersonIdentity::new(ISSUER, subject).unwrap(),
        address: mail
            .map(|(text, is_verified)| ClaimedAddress { address: address(text), is_verified }),
        name: None,
    }
}
