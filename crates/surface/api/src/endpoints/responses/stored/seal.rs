//! Contents that are stored: encrypted with a key for each object, which is in the object's row and
//! nowhere else, so that deleting the key deletes the contents.

use domain::entropy::EntropySource;
use http_frame::refusal::Refusal;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

/// The key of one object. Has no `Debug`, so that it is never printed.
#[derive(Clone, Copy)]
pub(in crate::endpoints) struct ContentKey(pub(in crate::endpoints) [u8; 32]);

/// A sealed content, and its size before.
pub(in crate::endpoints) struct SealedContent {
    pub(in crate::endpoints) sealed: Vec<u8>,
    pub(in crate::endpoints) bytes: u64,
}

impl ContentKey {
    pub(in crate::endpoints) fn generate(entropy: &dyn EntropySource) -> ContentKey {
        let mut bytes = [0; 32];
        entropy.fill_bytes(&mut bytes);
        ContentKey(bytes)
    }

    /// Seals a value for the object with this id. Each sealing has a nonce of its own, before the
    /// sealed bytes.
    pub(in crate::endpoints) fn seal(
        &self,
        object: Uuid,
        content: &impl Serialize,
        entropy: &dyn EntropySource,
    ) -> Result<SealedContent, Refusal> {
        let mut plain = serde_json::to_vec(content).map_err(Refusal::internal)?;
        let bytes = u64::try_from(plain.len()).unwrap_or(u64::MAX);
        let mut nonce = [0; NONCE_LEN];
        entropy.fill_bytes(&mut nonce);
        let used = Nonce::assume_unique_for_key(nonce);
        let aad = Aad::from(object.into_bytes());
        let key = self.to_cipher().ok_or_else(|| Refusal::internal("a key has another length"))?;
        key.seal_in_place_append_tag(used, aad, &mut plain)
            .map_err(|_| Refusal::internal("a content cannot be sealed"))?;
        Ok(SealedContent { sealed: [nonce.as_slice(), &plain].concat(), bytes })
    }

    pub(in crate::endpoints) fn open<T: DeserializeOwned>(
        &self,
        object: Uuid,
        sealed: &[u8],
    ) -> Result<T, Refusal> {
        let damaged = || Refusal::internal("a stored content is damaged");
        let (nonce, sealed) = sealed.split_at_checked(NONCE_LEN).ok_or_else(damaged)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| damaged())?;
        let mut sealed = sealed.to_vec();
        let aad = Aad::from(object.into_bytes());
        let key = self.to_cipher().ok_or_else(damaged)?;
        let plain = key.open_in_place(nonce, aad, &mut sealed).map_err(|_| damaged())?;
        serde_json::from_slice(plain).map_err(Refusal::internal)
    }

    fn to_cipher(self) -> Option<LessSafeKey> {
        UnboundKey::new(&AES_256_GCM, &self.0).ok().map(LessSafeKey::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct FixedEntropy;

    impl EntropySource for FixedEntropy {
        fn fill_bytes(&self, bytes: &mut [u8]) {
            bytes.fill(7);
        }
    }

    #[test]
    fn a_content_is_read_with_its_key_for_its_object_only() {
        let (key, object) = (ContentKey([1; 32]), Uuid::from_u128(1));
        let sealed = key.seal(object, &"a secret", &FixedEntropy).unwrap();
        assert_eq!(sealed.bytes, 10);
        assert!(!sealed.sealed.windows(6).any(|it| it == b"secret"));
        assert_eq!(key.open::<String>(object, &sealed.sealed).unwrap(), "a secret");
        assert!(key.open::<String>(Uuid::from_u128(2), &sealed.sealed).is_err());
        assert!(ContentKey([2; 32]).open::<String>(object, &sealed.sealed).is_err());
        assert!(key.open::<String>(object, &sealed.sealed[..9]).is_err());
    }
}
