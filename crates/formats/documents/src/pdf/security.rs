//! The standard security handler, for encrypted files that open without a password: their author
//! wanted to prevent copying or printing, and every viewer shows them.

use super::cipher::{BLOCK_BYTES, apply_rc4, decrypt_aes, digest_md5};
use super::object::PdfObjectId;
use crate::fault::{self, DocumentReadError};

/// The padding that represents an empty password.
const NO_PASSWORD: [u8; 32] = [
    0x28, 0xbf, 0x4e, 0x5e, 0x4e, 0x75, 0x8a, 0x41, 0x64, 0x00, 0x4e, 0x56, 0xff, 0xfa, 0x01, 0x08,
    0x2e, 0x2e, 0x00, 0xb6, 0xd0, 0x68, 0x3e, 0x80, 0x2f, 0x0c, 0xa9, 0xfe, 0x64, 0x53, 0x69, 0x7a,
];
/// Extra digest rounds of a key, from revision 3.
const KEY_ROUNDS: usize = 50;
/// Extra encryption rounds of the password proof, from revision 3.
const PROOF_ROUNDS: u8 = 19;
/// Length of a proof from revision 3; the bytes after it are arbitrary.
const PROOF_BYTES: usize = 16;
/// Extra length of object keys over the file's key; at most 16 bytes in total.
const OBJECT_KEY_BYTES: usize = 5;
/// Added to object keys for AES.
const AES_SALT: &[u8] = b"sAlT";

/// The parameters in the encryption dictionary.
#[derive(Debug, Clone)]
pub(super) struct EncryptionParameters<'a> {
    /// Revision of the handler: 2, 3 or 4.
    pub(super) revision: usize,
    pub(super) key_bytes: usize,
    /// The owner's password, encrypted with the user's; only the first 32 bytes are used.
    pub(super) owner: &'a [u8],
    /// Verifies a password.
    pub(super) proof: &'a [u8],
    pub(super) permissions: [u8; 4],
    pub(super) encrypts_metadata: bool,
    /// The file identifier.
    pub(super) id: &'a [u8],
}

/// Encryption methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CipherMethod {
    Plain,
    /// RC4 with a key per object.
    Rc4,
    /// AES with a key per object.
    Aes,
    /// AES with the file's 256-bit key.
    LongAes,
}

impl CipherMethod {
    /// Cost of decrypting, in steps, besides the setup.
    pub(super) fn steps(self, bytes: usize) -> usize {
        match self {
            CipherMethod::Plain | CipherMethod::Rc4 => bytes,
            CipherMethod::Aes | CipherMethod::LongAes => 4 * bytes,
        }
    }
}

/// The key of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PdfFileKey(pub(super) Vec<u8>);

impl PdfFileKey {
    /// Derives the key with an empty password; fails if it is wrong.
    pub(super) fn without_password(
        terms: &EncryptionParameters<'_>,
    ) -> Result<PdfFileKey, DocumentReadError> {
        let owner = terms.owner.get(..NO_PASSWORD.len()).ok_or(fault::DAMAGED)?;
        let metadata = 4 <= terms.revision && !terms.encrypts_metadata;
        let unlike_metadata: &[u8] = if metadata { &[0xff; 4] } else { &[] };
        let parts = [&NO_PASSWORD, owner, &terms.permissions, terms.id, unlike_metadata];
        let mut digest = digest_md5(&parts.concat());
        let length = terms.key_bytes.min(digest.len());
        if 3 <= terms.revision {
            for _ in 0..KEY_ROUNDS {
                digest = digest_md5(&digest[..length]);
            }
        }
        let key = PdfFileKey(digest[..length].to_vec());
        if key.is_valid(terms) { Ok(key) } else { Err(fault::PASSWORD_PDF) }
    }

    fn is_valid(&self, terms: &EncryptionParameters<'_>) -> bool {
        if terms.revision < 3 {
            let proof = apply_rc4(&self.0, &NO_PASSWORD);
            return terms.proof.get(..proof.len()) == Some(&proof[..]);
        }
        let digest = digest_md5(&[&NO_PASSWORD, terms.id].concat());
        let mut proof = apply_rc4(&self.0, &digest);
        for round in 1..=PROOF_ROUNDS {
            let key: Vec<u8> = self.0.iter().map(|byte| byte ^ round).collect();
            proof = apply_rc4(&key, &proof);
        }
        terms.proof.get(..PROOF_BYTES) == Some(&proof[..])
    }

    /// Decrypts data of an object.
    pub(super) fn decrypt(
        &self,
        method: CipherMethod,
        owner: PdfObjectId,
        bytes: &[u8],
    ) -> Vec<u8> {
        match method {
            CipherMethod::Plain => bytes.to_vec(),
            CipherMethod::Rc4 => apply_rc4(&self.derive_object_key(owner, &[]), bytes),
            CipherMethod::Aes => decrypt_padded(&self.derive_object_key(owner, AES_SALT), bytes),
            CipherMethod::LongAes => decrypt_padded(&self.0, bytes),
        }
    }

    fn derive_object_key(&self, owner: PdfObjectId, salt: &[u8]) -> Vec<u8> {
        let number = &owner.number.to_le_bytes()[..3];
        let generation = &owner.generation.to_le_bytes()[..2];
        let digest = digest_md5(&[&self.0, number, generation, salt].concat());
        let length = (self.0.len() + OBJECT_KEY_BYTES).min(digest.len());
        digest[..length].to_vec()
    }
}

/// The first block is the initialisation vector; the last byte is the padding length.
fn decrypt_padded(key: &[u8], bytes: &[u8]) -> Vec<u8> {
    let Some((first, rest)) = bytes.split_first_chunk() else { return Vec::new() };
    let mut decrypted = decrypt_aes(key, *first, rest);
    let added = decrypted.last().copied().map_or(0, usize::from);
    if (1..=BLOCK_BYTES).contains(&added) {
        decrypted.truncate(decrypted.len().saturating_sub(added));
    }
    decrypted
}

#[cfg(test)]
mod tests {
    use super::super::cipher::encrypt_aes128;
    use super::*;

    const OWNER: [u8; 32] = [0; 32];

    fn terms() -> EncryptionParameters<'static> {
        EncryptionParameters {
            revision: 3,
            key_bytes: 16,
            owner: &OWNER,
            proof: &[0; 32],
            permissions: [0; 4],
            encrypts_metadata: true,
            id: b"",
        }
    }

    #[test]
    fn a_proof_that_an_empty_password_does_not_give_is_a_password() {
        assert_eq!(PdfFileKey::without_password(&terms()), Err(fault::PASSWORD_PDF));
        let cut = EncryptionParameters { proof: b"", ..terms() };
        assert_eq!(PdfFileKey::without_password(&cut), Err(fault::PASSWORD_PDF));
    }

    #[test]
    fn what_fills_the_last_block_up_is_taken_off() {
        let (key, begin) = ([1; 16], [2; BLOCK_BYTES]);
        for (last, expected) in [(11, "hello"), (0, "hello\0"), (17, "hello\u{11}")] {
            let mut block = [last; BLOCK_BYTES];
            block[..5].copy_from_slice(b"hello");
            let encrypted = encrypt_aes128(key, begin, &block);
            let decrypted = decrypt_padded(&key, &[&begin[..], &encrypted].concat());
            assert!(decrypted.starts_with(expected.as_bytes()), "{last}");
            assert_eq!(decrypted.len(), if last == 11 { 5 } else { BLOCK_BYTES }, "{last}");
        }
    }

    #[test]
    fn an_owner_that_is_cut_short_is_damage() {
        for length in [0, 1, 31] {
            let cut = EncryptionParameters { owner: &OWNER[..length], ..terms() };
            assert_eq!(PdfFileKey::without_password(&cut), Err(fault::DAMAGED), "{length}");
        }
    }
}
