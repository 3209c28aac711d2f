//! Ids of journal entries that are derived, so that the same movement is the same entry.

use ledger_core::EntryId;
use sha2::{Digest, Sha256};
use uuid::Builder;

/// The entry of a movement: the same parts always give the same id.
pub(crate) fn derive_entry(kind: &str, parts: &[&[u8]]) -> EntryId {
    let mut hasher = Sha256::new();
    hasher.update(b"tollgate ");
    hasher.update(kind.as_bytes());
    for part in parts {
        // The length first, so that no two lists hash alike.
        hasher.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hasher.update(part);
    }
    let digest: [u8; 32] = hasher.finalize().into();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    EntryId(Builder::from_custom_bytes(bytes).into_uuid())
}
