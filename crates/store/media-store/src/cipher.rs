//! Encryption in pieces, so that no object has to be in memory as a whole.
//!
//! A piece is sealed with AES-256-GCM. Each object has its own key, so the number of the piece can
//! serve as the nonce. The nonce also marks the last piece, so that a truncated object is detected.
//! The object's name is authenticated with each piece, so that one object cannot be substituted for
//! another.

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, Tag, UnboundKey};
use uuid::Uuid;

/// Plaintext bytes of one piece; the last may be shorter.
pub(crate) const PIECE_BYTES: usize = 64 * 1024;
/// Bytes of the authentication tag that sealing adds to a piece.
pub(crate) const SEAL_BYTES: usize = 16;
/// Bytes of one sealed piece in the store.
pub(crate) const SEALED_BYTES: usize = PIECE_BYTES + SEAL_BYTES;

/// The encryption key of one object. Has no `Debug`, so that it is never printed.
#[derive(Clone)]
pub struct ObjectKey([u8; 32]);

impl ObjectKey {
    /// Takes random bytes that are used for nothing else.
    pub fn new(bytes: [u8; 32]) -> ObjectKey {
        ObjectKey(bytes)
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// The tag does not match: the piece is damaged, or was sealed for another object or position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CipherFault;

pub(crate) struct ObjectCipher {
    key: LessSafeKey,
    object: Uuid,
}

impl ObjectCipher {
    pub(crate) fn new(key: &ObjectKey, object: Uuid) -> Result<ObjectCipher, CipherFault> {
        let key = UnboundKey::new(&AES_256_GCM, &key.0).map_err(|_| CipherFault)?;
        Ok(ObjectCipher { key: LessSafeKey::new(key), object })
    }

    pub(crate) fn seal(
        &self,
        piece: &mut Vec<u8>,
        number: u64,
        is_last: bool,
    ) -> Result<(), CipherFault> {
        let aad = Aad::from(self.object.into_bytes());
        self.key
            .seal_in_place_append_tag(build_nonce(number, is_last), aad, piece)
            .map_err(|_| CipherFault)
    }

    pub(crate) fn open(
        &self,
        piece: &mut Vec<u8>,
        number: u64,
        is_last: bool,
    ) -> Result<(), CipherFault> {
        let aad = Aad::from(self.object.into_bytes());
        let plain = self.key.open_in_place(build_nonce(number, is_last), aad, piece);
        let length = plain.map_err(|_| CipherFault)?.len();
        piece.truncate(length);
        Ok(())
    }
}

fn build_nonce(number: u64, is_last: bool) -> Nonce {
    let mut bytes = [0; NONCE_LEN];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    bytes[8] = u8::from(is_last);
    Nonce::assume_unique_for_key(bytes)
}

const _: () = assert!(SEAL_BYTES == size_of::<Tag>());
