//! Verification of ID tokens: signed JSON Web Tokens of OpenID Connect.

use moment::Timestamp;
use serde_json::{Map, Value};
use thiserror::Error;

use crate::algorithm::TokenAlgorithm;
use crate::encoding::{decode_base64url, is_same_secret, parse_object, text_field};
use crate::identity::{IdentityClaims, PersonIdentity, read_address, read_name};
use crate::key_set::KeySet;
use crate::provider_url::IssuerUrl;

/// The largest token that is parsed.
pub const ID_TOKEN_BYTES_MAX: usize = 32 * 1024;
/// Seconds that a provider's clock may differ from ours.
pub const CLOCK_SKEW_S: i64 = 60;

const AUDIENCES_MAX: usize = 32;
const SIGNATURE_BYTES_MAX: usize = 1024;

/// The terms that a token must meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdTokenRules<'a> {
    pub issuer: &'a IssuerUrl,
    pub client_id: &'a str,
    /// The algorithms of the provider's metadata.
    pub algorithms: &'a [TokenAlgorithm],
    /// The attempt's nonce.
    pub nonce: &'a str,
    /// As in [`OidcProvider`](crate::OidcProvider).
    pub trusts_addresses: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdTokenVerdict {
    Verified(IdentityClaims),
    /// The token's key is not among the keys, so the provider may have new ones: fetch them, if
    /// [`KeySetCache::begin_fetch`](crate::KeySetCache::begin_fetch) allows it, and verify once more.
    /// A second time, the token is refused.
    FetchKeys,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum IdTokenRefusal {
    #[error("the ID token is not a signed JSON Web Token, or too large")]
    Malformed,
    #[error("the ID token is signed with an algorithm that is not accepted")]
    Algorithm,
    #[error("the signature of the ID token is not the provider's")]
    Signature,
    #[error("the ID token is from another issuer")]
    IssuerUrl,
    #[error("the ID token is for another client")]
    Audience,
    #[error("the ID token has expired")]
    Expired,
    #[error("the ID token is from the future: check the clock")]
    Future,
    #[error("the ID token is from another sign-in")]
    Nonce,
    #[error("the ID token names no subject")]
    Subject,
}

/// Verifies a token. The signature comes before the claims: nothing of an unsigned text is trusted,
/// not even for an error.
pub fn verify_id_token(
    rules: IdTokenRules<'_>,
    keys: &KeySet,
    token: &str,
    now: Timestamp,
) -> Result<IdTokenVerdict, IdTokenRefusal> {
    let parts = TokenParts::parse(token).ok_or(IdTokenRefusal::Malformed)?;
    let algorithm = check_head(&parts.head, rules.algorithms)?;
    let key_id = match parts.head.get("kid") {
        None => None,
        Some(id) => Some(id.as_str().ok_or(IdTokenRefusal::Malformed)?),
    };
    let mut candidates = keys.candidates(algorithm, key_id).peekable();
    let is_known = candidates.peek().is_some();
    let is_signed = candidates.any(|key| {
        algorithm.is_signature(&key.material, parts.signed.as_bytes(), &parts.signature)
    });
    if !is_signed {
        // A token without a key id may be signed with a key that is not in the set yet.
        let may_be_new = !is_known || key_id.is_none();
        return if may_be_new {
            Ok(IdTokenVerdict::FetchKeys)
        } else {
            Err(IdTokenRefusal::Signature)
        };
    }
    let claims = &parts.claims;
    if text_field(claims, "iss") != Some(rules.issuer.as_str()) {
        return Err(IdTokenRefusal::IssuerUrl);
    }
    check_audience(claims, rules.client_id)?;
    check_times(claims, now)?;
    let nonce = text_field(claims, "nonce").unwrap_or_default();
    if rules.nonce.is_empty() || !is_same_secret(nonce.as_bytes(), rules.nonce.as_bytes()) {
        return Err(IdTokenRefusal::Nonce);
    }
    let subject = text_field(claims, "sub").ok_or(IdTokenRefusal::Subject)?;
    let identity =
        PersonIdentity::new(rules.issuer.as_str(), subject).ok_or(IdTokenRefusal::Subject)?;
    Ok(IdTokenVerdict::Verified(IdentityClaims {
        identity,
        address: read_address(claims, rules.trusts_addresses),
        name: read_name(claims, &["name", "preferred_username"]),
    }))
}

struct TokenParts<'a> {
    head: Map<String, Value>,
    claims: Map<String, Value>,
    /// The head and the claims as they were signed.
    signed: &'a str,
    signature: Vec<u8>,
}

impl<'a> TokenParts<'a> {
    fn parse(token: &'a str) -> Option<TokenParts<'a>> {
        if ID_TOKEN_BYTES_MAX < token.len() {
            return None;
        }
        let (signed, signature) = token.rsplit_once('.')?;
        let (head, claims) = signed.split_once('.')?;
        let signature = decode_base64url(signature)?;
        if signature.is_empty() || SIGNATURE_BYTES_MAX < signature.len() {
            return None;
        }
        let object = |part: &str| parse_object(&decode_base64url(part)?, ID_TOKEN_BYTES_MAX);
        Some(TokenParts { head: object(head)?, claims: object(claims)?, signed, signature })
    }
}

/// The algorithm in the head of a token. Keys and their addresses in it (`jwk`, `x5c`, `jku`, `x5u`)
/// are not read; extensions that must be understood (`crit`), and tokens that say they are for
/// something else (`at+jwt`), are refused.
fn check_head(
    head: &Map<String, Value>,
    accepted: &[TokenAlgorithm],
) -> Result<TokenAlgorithm, IdTokenRefusal> {
    let is_for_sign_in = match head.get("typ") {
        None => true,
        Some(kind) => kind.as_str().is_some_and(|kind| !kind.contains('+')),
    };
    if head.contains_key("crit") || !is_for_sign_in {
        return Err(IdTokenRefusal::Malformed);
    }
    text_field(head, "alg")
        .and_then(TokenAlgorithm::parse)
        .filter(|algorithm| accepted.contains(algorithm))
        .ok_or(IdTokenRefusal::Algorithm)
}

/// We must be among the audiences; if there are several, or the token names an authorized party, that
/// party must be us.
fn check_audience(claims: &Map<String, Value>, client_id: &str) -> Result<(), IdTokenRefusal> {
    let (is_for_us, are_several) = match claims.get("aud") {
        Some(Value::String(one)) => (one == client_id, false),
        Some(Value::Array(list)) if list.len() <= AUDIENCES_MAX => {
            (list.iter().any(|it| it == client_id), 1 < list.len())
        }
        _ => (false, false),
    };
    let is_party_ours = match claims.get("azp") {
        None => !are_several,
        Some(party) => party == client_id,
    };
    if is_for_us && is_party_ours { Ok(()) } else { Err(IdTokenRefusal::Audience) }
}

fn check_times(claims: &Map<String, Value>, now: Timestamp) -> Result<(), IdTokenRefusal> {
    let now_s = now.seconds();
    let expires = read_time(claims.get("exp")).ok_or(IdTokenRefusal::Expired)?;
    if expires <= now_s.saturating_sub(CLOCK_SKEW_S) {
        return Err(IdTokenRefusal::Expired);
    }
    let issued = read_time(claims.get("iat")).ok_or(IdTokenRefusal::Malformed)?;
    let not_before = match claims.get("nbf") {
        None => issued,
        Some(time) => read_time(Some(time)).ok_or(IdTokenRefusal::Malformed)?,
    };
    if now_s.saturating_add(CLOCK_SKEW_S) < issued.max(not_before) {
        return Err(IdTokenRefusal::Future);
    }
    Ok(())
}

/// Seconds since 1970, which may have a fraction that is cut.
fn read_time(value: Option<&Value>) -> Option<i64> {
    let number = value?;
    if let Some(seconds) = number.as_i64() {
        return Some(seconds);
    }
    let seconds = number.as_f64()?;
    // Far within the range in which the conversion is exact.
    let is_sound = (0.0..1e15).contains(&seconds);
    #[expect(clippy::cast_possible_truncation, reason = "the fraction is cut, the range checked")]
    is_sound.then_some(seconds as i64)
}
