//! Decodes numbers and bytes in the hexadecimal form of EVM nodes.

use alloy_primitives::hex;
use serde_json::Value;

use crate::settler::SettleFailure;

/// Decodes a number such as `0x1a`.
pub(super) fn decode_number(value: &Value) -> Result<u128, SettleFailure> {
    let digits = value.as_str().and_then(|text| text.strip_prefix("0x"));
    let number = digits.and_then(|digits| u128::from_str_radix(digits, 16).ok());
    number.ok_or_else(|| SettleFailure::unable("the node did not return a number"))
}

pub(super) fn decode_u64(value: &Value) -> Result<u64, SettleFailure> {
    let number = decode_number(value)?;
    u64::try_from(number)
        .map_err(|_| SettleFailure::unable("the node returned a number that is too large"))
}

/// Decodes bytes such as `0x00ff`.
pub(super) fn decode_bytes(value: &Value) -> Result<Vec<u8>, SettleFailure> {
    let bytes = value.as_str().and_then(|text| hex::decode(text).ok());
    bytes.ok_or_else(|| SettleFailure::unable("the node did not return bytes"))
}

pub(super) fn encode_quantity(number: u128) -> String {
    format!("{number:#x}")
}
