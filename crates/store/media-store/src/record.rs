//! Seals small records that are kept in the database, so that destroying one key makes all of them
//! unreadable.

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use uuid::Uuid;

use crate::cipher::ObjectKey;
use crate::store::MediaError;

/// Random bytes before each sealed record. With 50,000 records per key, two are the same with a
/// probability of less than one in 10¹⁹.
pub const NONCE_BYTES: usize = NONCE_LEN;

/// Seals the records of one owner object. A record is bound to its number.
pub struct RecordCipher {
    key: LessSafeKey,
    object: Uuid,
}

impl RecordCipher {
    pub fn new(key: &ObjectKey, object: Uuid) -> Result<RecordCipher, MediaError> {
        let key = UnboundKey::new(&AES_256_GCM, key.as_bytes()).map_err(|_| MediaError::Broken)?;
        Ok(RecordCipher { key: LessSafeKey::new(key), object })
    }

    /// Seals a record under a nonce that was used for no other one.
    pub fn seal(
        &self,
        number: u32,
        nonce: [u8; NONCE_BYTES],
        record: &[u8],
    ) -> Result<Vec<u8>, MediaError> {
        let mut sealed = nonce.to_vec();
        let mut content = record.to_vec();
        let nonce = Nonce::assume_unique_for_key(nonce);
        let sealing = self.key.seal_in_place_append_tag(nonce, self.aad(number), &mut content);
        sealing.map_err(|_| MediaError::Broken)?;
        sealed.append(&mut content);
        Ok(sealed)
    }

    pub fn open(&self, number: u32, sealed: &[u8]) -> Result<Vec<u8>, MediaError> {
        let (nonce, content) = sealed.split_first_chunk().ok_or(MediaError::Broken)?;
        let mut content = content.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let plain = self.key.open_in_place(nonce, self.aad(number), &mut content);
        let length = plain.map_err(|_| MediaError::Broken)?.len();
        content.truncate(length);
        Ok(content)
    }

    fn aad(&self, number: u32) -> Aad<[u8; 20]> {
        let mut bytes = [0; 20];
        bytes[..16].copy_from_slice(self.object.as_bytes());
        bytes[16..].copy_from_slice(&number.to_le_bytes());
        Aad::from(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_opens_under_its_key_object_and_number_only() {
        let cipher = |key, object| {
            RecordCipher::new(&ObjectKey::new([key; 32]), Uuid::from_u128(object)).unwrap()
        };
        let sealed = cipher(1, 2).seal(3, [4; NONCE_BYTES], b"a result").unwrap();
        assert!(!sealed.windows(8).any(|part| part == b"a result"));
        assert_eq!(cipher(1, 2).open(3, &sealed).unwrap(), b"a result");
        assert!(cipher(9, 2).open(3, &sealed).is_err());
        assert!(cipher(1, 9).open(3, &sealed).is_err());
        assert!(cipher(1, 2).open(9, &sealed).is_err());
        assert!(cipher(1, 2).open(3, &sealed[..10]).is_err());
    }
}
