//! Names of accounts that follow from what an account is, where numbers would have to be looked up:
//! in Postgres, and in exports.

use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The account of a lot.
pub fn of_lot(owner: Uuid, currency: &str, name: &str) -> Uuid {
    id_of(b"lot", owner, currency, name)
}

/// A system account of a node.
pub fn of_system(node: Uuid, currency: &str, name: &str) -> Uuid {
    id_of(b"system", node, currency, name)
}

/// Neither a currency nor a name has a line break in it, so no two accounts share a text.
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
