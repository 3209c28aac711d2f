//! A provider's public keys: its JSON Web Key Set.

use serde_json::{Map, Value};
use thiserror::Error;

use crate::algorithm::TokenAlgorithm;
use crate::encoding::{decode_base64url, parse_object, text_field, text_list};

/// The largest document that is parsed. Those of large providers, with certificates, have 20 kB.
pub const KEY_SET_BYTES_MAX: usize = 256 * 1024;
/// The most keys of a set, usable or not.
pub const KEYS_MAX: usize = 100;

const KEY_ID_BYTES_MAX: usize = 256;
/// The bounds of the verifier.
const RSA_BITS_MIN: usize = 2048;
const RSA_BITS_MAX: usize = 8192;
const RSA_EXPONENT_BYTES_MAX: usize = 4;

/// The usable keys of a provider: those for signatures, of an accepted kind. Others are skipped, so
/// that a provider may have keys for other uses. Addresses of certificates (`x5u`) are not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySet {
    keys: Vec<VerificationKey>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VerificationKey {
    id: Option<String>,
    /// The only algorithm that the key may be used for, if the set names one.
    algorithm: Option<TokenAlgorithm>,
    pub(crate) material: KeyMaterial,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyMaterial {
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
    /// The uncompressed point.
    P256(Vec<u8>),
    /// The uncompressed point.
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum KeySetFault {
    #[error("the provider's keys are not a JSON object with `keys`, or too large")]
    Malformed,
    #[error("the provider has too many keys")]
    TooMany,
    #[error("none of the provider's keys can verify a signature that is accepted")]
    NoneUsable,
}

impl KeySet {
    pub fn parse(bytes: &[u8]) -> Result<KeySet, KeySetFault> {
        let document = parse_object(bytes, KEY_SET_BYTES_MAX).ok_or(KeySetFault::Malformed)?;
        let keys = document.get("keys").and_then(Value::as_array).ok_or(KeySetFault::Malformed)?;
        if KEYS_MAX < keys.len() {
            return Err(KeySetFault::TooMany);
        }
        let keys: Vec<_> = keys.iter().filter_map(Value::as_object).filter_map(parse_key).collect();
        if keys.is_empty() { Err(KeySetFault::NoneUsable) } else { Ok(KeySet { keys }) }
    }

    /// The keys that a token of this algorithm and key id may be signed with: those of the id, or
    /// all if the token names none.
    pub(crate) fn candidates(
        &self,
        algorithm: TokenAlgorithm,
        id: Option<&str>,
    ) -> impl Iterator<Item = &VerificationKey> {
        self.keys.iter().filter(move |key| {
            let has_id = id.is_none_or(|id| key.id.as_deref() == Some(id));
            let has_algorithm = key.algorithm.is_none_or(|it| it == algorithm);
            has_id && has_algorithm && algorithm.fits_key(&key.material)
        })
    }
}

/// None if the key is unusable.
fn parse_key(key: &Map<String, Value>) -> Option<VerificationKey> {
    let is_for_signatures = key.get("use").is_none_or(|it| it == "sig");
    let may_verify = key.get("key_ops").is_none() || text_list(key, "key_ops")?.contains(&"verify");
    if !is_for_signatures || !may_verify {
        return None;
    }
    let material = match text_field(key, "kty")? {
        "RSA" => parse_rsa(key)?,
        "EC" => parse_curve_point(key)?,
        "OKP" if text_field(key, "crv")? == "Ed25519" => {
            KeyMaterial::Ed25519(decode_sized(key, "x", 32)?)
        }
        _ => return None,
    };
    let algorithm = match key.get("alg") {
        None => None,
        Some(name) => Some(TokenAlgorithm::parse(name.as_str()?)?),
    };
    let id = match key.get("kid") {
        None => None,
        Some(id) => Some(id.as_str().filter(|id| id.len() <= KEY_ID_BYTES_MAX)?.to_owned()),
    };
    Some(VerificationKey { id, algorithm, material })
}

fn parse_rsa(key: &Map<String, Value>) -> Option<KeyMaterial> {
    let modulus = decode_number(text_field(key, "n")?)?;
    let exponent = decode_number(text_field(key, "e")?)?;
    let leading_zeros = usize::try_from(modulus.first()?.leading_zeros()).ok()?;
    let bits = modulus.len() * 8 - leading_zeros;
    let is_sized = (RSA_BITS_MIN..=RSA_BITS_MAX).contains(&bits)
        && (1..=RSA_EXPONENT_BYTES_MAX).contains(&exponent.len());
    is_sized.then_some(KeyMaterial::Rsa { modulus, exponent })
}

fn parse_curve_point(key: &Map<String, Value>) -> Option<KeyMaterial> {
    let (bytes, build): (usize, fn(Vec<u8>) -> KeyMaterial) = match text_field(key, "crv")? {
        "P-256" => (32, KeyMaterial::P256),
        "P-384" => (48, KeyMaterial::P384),
        _ => return None,
    };
    let (x, y) = (decode_sized(key, "x", bytes)?, decode_sized(key, "y", bytes)?);
    Some(build([&[4], x.as_slice(), y.as_slice()].concat()))
}

fn decode_sized(key: &Map<String, Value>, name: &str, bytes: usize) -> Option<Vec<u8>> {
    decode_base64url(text_field(key, name)?).filter(|decoded| decoded.len() == bytes)
}

/// A big-endian number without leading zeros, which some providers add and the verifier refuses.
fn decode_number(text: &str) -> Option<Vec<u8>> {
    let bytes = decode_base64url(text)?;
    let start = bytes.iter().position(|byte| *byte != 0)?;
    Some(bytes[start..].to_vec())
}
