//! The hash of a signed transaction, so that the audit line can name it without storing it.

use std::fmt;

use alloy_rlp::Header;
use serde_json::Value;
use sha3::{Digest, Keccak256};

use crate::values::{self, RawJsonValues};

/// The type byte of a transaction that carries blobs (EIP-4844).
const BLOB_TYPE: u8 = 0x03;
/// The type byte of zkSync's own transactions (EIP-712), whose hash is not that of their bytes.
const ZKSYNC_TYPE: u8 = 0x71;
/// Nodes accept at most 128 KiB without blobs; far larger payloads are not hashed.
const HASHED_BYTES_MAX: usize = 1024 * 1024;

/// The keccak-256 hash that identifies a transaction on its chain.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TransactionHash([u8; 32]);

impl TransactionHash {
    /// The hash of a signed transaction in its network encoding; `None` if it is not a plain
    /// function of the bytes.
    pub fn of_raw(raw: &[u8]) -> Option<TransactionHash> {
        let hashed = match *raw.first()? {
            ZKSYNC_TYPE => return None,
            BLOB_TYPE => blob_body(raw)?,
            _ => raw,
        };
        if HASHED_BYTES_MAX < hashed.len() {
            return None;
        }
        let mut hasher = Keccak256::new();
        if raw[0] == BLOB_TYPE {
            hasher.update([BLOB_TYPE]);
        }
        hasher.update(hashed);
        Some(TransactionHash(hasher.finalize().into()))
    }

    /// The hash of the transaction in the first of these JSON parameters.
    pub(crate) fn of_params(params: &str) -> Option<TransactionHash> {
        let Ok(RawJsonValues::Many { kept, .. }) = values::parse_values(params.as_bytes(), 1)
        else {
            return None;
        };
        let text: &str = serde_json::from_str(kept.first()?.get()).ok()?;
        TransactionHash::of_raw(&parse_hex(text)?)
    }
}

/// `0x` and 64 hex digits.
impl fmt::Display for TransactionHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0x")?;
        for byte in self.0 {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for TransactionHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TransactionHash({self})")
    }
}

/// The hash in a node's answer to a submission: a plain string, or a member of an object.
pub(crate) fn parse_announced_hash(result: &str) -> Option<String> {
    let result: Value = serde_json::from_str(result).ok()?;
    let hash = result.as_str().or_else(|| result["transactionHash"].as_str())?;
    let is_hash = hash.len() == 66 && hash.starts_with("0x") && parse_hex(hash).is_some();
    is_hash.then(|| hash.to_ascii_lowercase())
}

/// The body of a blob transaction. It is sent as a list of its body and the blobs, and hashed as
/// its body alone, here without the type byte.
fn blob_body(raw: &[u8]) -> Option<&[u8]> {
    let envelope = &raw[1..];
    let mut inside = envelope;
    let outer = Header::decode(&mut inside).ok()?;
    if !outer.list {
        return None;
    }
    let body = inside;
    let mut rest = inside;
    let first = Header::decode(&mut rest).ok()?;
    if !first.list {
        return Some(envelope);
    }
    let length = body.len() - rest.len() + first.payload_length;
    body.get(..length)
}

fn parse_hex(text: &str) -> Option<Vec<u8>> {
    hex::decode(text.strip_prefix("0x")?).ok()
}

#[cfg(test)]
mod tests;
