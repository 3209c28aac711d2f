//! 256-bit keys, which are stored in the file, encrypted with a key derived from a password.

use sha2::{Digest, Sha256, Sha384, Sha512};

use super::cipher::{BLOCK_BYTES, decrypt_aes, encrypt_aes128};
use crate::fault::{self, DocumentReadError};

/// Maximum cost of deriving and verifying a key, in steps.
pub(super) const LONG_KEY_STEPS: usize = 4_000_000;

const KEY_BYTES: usize = 32;
const SALT_BYTES: usize = 8;
/// Rounds of the slow digest: at least 64, and more until its last byte is small enough; at most
/// 287, because a byte is at most 255.
const ROUNDS_MIN: usize = 64;
const ROUNDS_BEFORE_THE_BYTE: usize = 32;
/// Repetitions of the input per round.
const REPEATED: usize = 64;

#[derive(Debug, Clone, Copy)]
pub(super) enum HandlerRevision {
    /// Adobe's extension, fast to compute.
    Quick,
    /// PDF 2.0.
    Slow,
}

impl HandlerRevision {
    pub(super) fn from_number(number: usize) -> Option<HandlerRevision> {
        match number {
            5 => Some(HandlerRevision::Quick),
            6 => Some(HandlerRevision::Slow),
            _ => None,
        }
    }

    /// The digest of an empty password with a salt.
    fn digest(self, salt: &[u8]) -> [u8; KEY_BYTES] {
        let quick = Sha256::digest(salt);
        match self {
            HandlerRevision::Quick => quick.into(),
            HandlerRevision::Slow => compute_slow_digest(quick.to_vec()),
        }
    }
}

/// Derives the file's key with an empty password. `proof` consists of the password's digest, its
/// salt, and the salt for the key that decrypts `wrapped`.
pub(super) fn unwrap_key(
    revision: HandlerRevision,
    proof: &[u8],
    wrapped: &[u8],
) -> Result<Vec<u8>, DocumentReadError> {
    let (digest, salts) = proof.split_at_checked(KEY_BYTES).ok_or(fault::DAMAGED)?;
    let (salt, rest) = salts.split_at_checked(SALT_BYTES).ok_or(fault::DAMAGED)?;
    let key_salt = rest.get(..SALT_BYTES).ok_or(fault::DAMAGED)?;
    let wrapped = wrapped.get(..KEY_BYTES).ok_or(fault::DAMAGED)?;
    if revision.digest(salt) != digest {
        return Err(fault::PASSWORD_PDF);
    }
    Ok(decrypt_aes(&revision.digest(key_salt), [0; BLOCK_BYTES], wrapped))
}

fn compute_slow_digest(mut digest: Vec<u8>) -> [u8; KEY_BYTES] {
    for round in 0.. {
        let key = std::array::from_fn(|place| digest[place]);
        let begin = std::array::from_fn(|place| digest[BLOCK_BYTES + place]);
        let encrypted = encrypt_aes128(key, begin, &digest.repeat(REPEATED));
        // The first block as a number modulo 3; since 256 mod 3 is 1, the sum of its bytes
        // suffices.
        let rest: usize = encrypted.iter().take(BLOCK_BYTES).copied().map(usize::from).sum();
        digest = match rest % 3 {
            0 => Sha256::digest(&encrypted).to_vec(),
            1 => Sha384::digest(&encrypted).to_vec(),
            _ => Sha512::digest(&encrypted).to_vec(),
        };
        let last = encrypted.last().copied().map_or(0, usize::from);
        if ROUNDS_MIN <= round + 1 && last + ROUNDS_BEFORE_THE_BYTE <= round + 1 {
            break;
        }
    }
    std::array::from_fn(|place| digest[place])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_short_is_damage_and_another_digest_a_password() {
        for revision in [HandlerRevision::Quick, HandlerRevision::Slow] {
            for (proof, wrapped) in [(0, 32), (32, 32), (47, 32), (48, 31)] {
                let key = unwrap_key(revision, &vec![1; proof], &vec![1; wrapped]);
                assert_eq!(key, Err(fault::DAMAGED), "{proof} {wrapped}");
            }
            let key = unwrap_key(revision, &[1; 127], &[1; 32]);
            assert_eq!(key, Err(fault::PASSWORD_PDF));
        }
    }
}
