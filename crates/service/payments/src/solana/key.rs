//! The fee payer's key, in the formats of common tools.

use alloy_primitives::hex;
use ed25519_dalek::SigningKey;

/// Parses a base58 keypair, `hex:` and a 32-byte seed, or the JSON array of `id.json`.
pub(crate) fn parse_signing_key(text: &str) -> Result<SigningKey, String> {
    let text = text.trim();
    if let Some(seed) = text.strip_prefix("hex:") {
        let seed: Option<[u8; 32]> = hex::decode(seed).ok().and_then(|seed| seed.try_into().ok());
        return seed.map(|seed| SigningKey::from_bytes(&seed)).ok_or_else(describe_key_format);
    }
    let keypair = if text.starts_with('[') { from_json(text) } else { from_base58(text) };
    let keypair = keypair.ok_or_else(describe_key_format)?;
    // The second half is the public key: if it does not match the first, the key was mistyped.
    SigningKey::from_keypair_bytes(&keypair).map_err(|_| describe_key_format())
}

fn from_json(text: &str) -> Option<[u8; 64]> {
    let bytes: Vec<u8> = serde_json::from_str(text).ok()?;
    bytes.try_into().ok()
}

fn from_base58(text: &str) -> Option<[u8; 64]> {
    let mut bytes = [0; 64];
    five8::decode_64(text, &mut bytes).ok()?;
    Some(bytes)
}

fn describe_key_format() -> String {
    "the fee payer's key must be a keypair in base58, `hex:` and a seed of 64 digits, or the \
     contents of an id.json"
        .to_owned()
}

#[cfg(test)]
mod tests;
