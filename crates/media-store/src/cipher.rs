//! Encryption in pieces, so that an object is neither written nor read whole.
//!
//! A piece is sealed with AES-256-GCM. The key is used for one object only, so the number of the
//! piece is nonce enough; the last piece says that it is the last, so that an object which was cut
//! short is not taken for a whole one. The object's name is sealed in with each piece, so that one
//! object cannot be put in another's place.

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, Tag, UnboundKey};
use uuid::Uuid;

/// Of one piece, before it is sealed.
pub(crate) const PIECE_BYTES: usize = 64 * 1024;
/// What sealing adds to a piece.
pub(crate) const SEAL_BYTES: usize = 16;
/// Of one piece in the store.
pub(crate) const SEALED_BYTES: usize = PIECE_BYTES + SEAL_BYTES;

/// The key of one object. It cannot be printed.
#[derive(Clone)]
pub struct ObjectKey([u8; 32]);

impl ObjectKey {
    /// From random bytes that are used for nothing else.
    pub fn new(bytes: [u8; 32]) -> ObjectKey {
        ObjectKey(bytes)
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// What was sealed is not what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Broken;

pub(crate) struct Cipher {
    key: LessSafeKey,
    object: Uuid,
}

impl Cipher {
    pub(crate) fn new(key: &ObjectKey, object: Uuid) -> Result<Cipher, Broken> {
        let key = UnboundKey::new(&AES_256_GCM, &key.0).map_err(|_| Broken)?;
        Ok(Cipher { key: LessSafeKey::new(key), object })
    }

    pub(crate) fn seal(
        &self,
        piece: &mut Vec<u8>,
        number: u64,
        is_last: bool,
    ) -> Result<(), Broken> {
        let aad = Aad::from(self.object.into_bytes());
        self.key.seal_in_place_append_tag(nonce(number, is_last), aad, piece).map_err(|_| Broken)
    }

    pub(crate) fn open(
        &self,
        piece: &mut Vec<u8>,
        number: u64,
        is_last: bool,
    ) -> Result<(), Broken> {
        let aad = Aad::from(self.object.into_bytes());
        let plain = self.key.open_in_place(nonce(number, is_last), aad, piece);
        let length = plain.map_err(|_| Broken)?.len();
        piece.truncate(length);
        Ok(())
    }
}

fn nonce(number: u64, is_last: bool) -> Nonce {
    let mut bytes = [0; NONCE_LEN];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    bytes[8] = u8::from(is_last);
    Nonce::assume_unique_for_key(bytes)
}

const _: () = assert!(SEAL_BYTES == size_of::<Tag>());
