//! Decodes numbers and bytes in the hexadecimal form of EVM nodes.

use alloy_primitives::hex;
use serde_json::Value;

use crate::settler::Setback;

/// Decodes a number such as `0x1a`.
pub(super) fn number(value: &Value) -> Result<u128, Setback> {
    let digits = value.as_str().and_then(|text| text.strip_prefix("0x"));
    let number = digits.and_then(|digits| u128::from_str_radix(digits, 16).ok());
    number.ok_or_else(|| Setback::unable("the node gave something else than a number"))
}

pub(super) fn number_u64(value: &Value) -> Result<u64, Setback> {
    let number = number(value)?;
    u64::try_from(number).map_err(|_| Setback::unable("the node gave a number that is too large"))
}

/// Decodes bytes such as `0x00ff`.
pub(super) fn bytes(value: &Value) -> Result<Vec<u8>, Setback> {
    let bytes = value.as_str().and_then(|text| hex::decode(text).ok());
    bytes.ok_or_else(|| Setback::unable("the node gave something else than bytes"))
}

pub(super) fn quantity(number: u128) -> String {
    format!("{number:#x}")
}
