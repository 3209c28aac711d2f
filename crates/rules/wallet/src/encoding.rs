//! Decodes the text encodings of callers, leniently where clients differ.

use alloy_primitives::hex;
use base64::Engine;
use base64::alphabet::{Alphabet, STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

/// The largest header that is decoded. Servers refuse headers of this size anyway, and the largest
/// valid one (a contract wallet's signature) is far below it.
pub const HEADER_BYTES_MAX: usize = 16 * 1024;

/// Decodes the JSON object in a header. None if it is too long, not base64, or not an object.
pub(crate) fn json_header(header: &[u8]) -> Option<Value> {
    if HEADER_BYTES_MAX < header.len() {
        return None;
    }
    let json = base64_bytes(std::str::from_utf8(header).ok()?)?;
    let value: Value = serde_json::from_slice(&json).ok()?;
    value.is_object().then_some(value)
}

/// Decodes base64 in the standard or the URL alphabet, padded or not.
pub(crate) fn base64_bytes(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_ascii();
    let is_for_urls = text.bytes().any(|byte| byte == b'-' || byte == b'_');
    let alphabet = if is_for_urls { &URL_SAFE } else { &STANDARD };
    build_base64_engine(alphabet).decode(text).ok()
}

fn build_base64_engine(alphabet: &Alphabet) -> GeneralPurpose {
    let config =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(alphabet, config)
}

/// Decodes `0x` and an even number of hexadecimal digits, possibly none.
pub(crate) fn hex_bytes(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x")?;
    // The decoder would skip a second `0x`.
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| hex::decode(digits).ok())?
}

pub(crate) fn hex_array<const N: usize>(text: &str) -> Option<[u8; N]> {
    hex_bytes(text)?.try_into().ok()
}

/// Decodes a Solana signature in base58.
pub(crate) fn base58_64(text: &str) -> Option<[u8; 64]> {
    let mut bytes = [0; 64];
    five8::decode_64(text, &mut bytes).ok()?;
    Some(bytes)
}
