//! Account ids derived from owner, currency and name, where row numbers would need a lookup: in
//! Postgres, and in exports.

use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The id of a lot.
pub fn lot_account_id(owner: Uuid, currency: &str, name: &str) -> Uuid {
    id_of(b"lot", owner, currency, name)
}

/// The id of a node's system account.
pub fn system_account_id(node: Uuid, currency: &str, name: &str) -> Uuid {
    id_of(b"system", node, currency, name)
}

/// Hashes the parts. Currencies and names have no line breaks, so no two accounts hash alike.
fn id_of(kind: &[u8], whose: Uuid, currency: &str, name: &str) -> Uuid {
    let mut hash = Sha256::new();
    for part in [kind, whose.as_bytes().as_slice(), currency.as_bytes(), name.as_bytes()] {
        hash.update(part);
        hash.update(b"\n");
    }
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.finalize()[..16]);
    Uuid::from_bytes(bytes)
}
