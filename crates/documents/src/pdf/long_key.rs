//! Keys of 32 bytes, which stand in the file themselves, encrypted with what a password gives.

use sha2::{Digest, Sha256, Sha384, Sha512};

use super::cipher::{BLOCK_BYTES, decrypt_aes, encrypt_aes128};
use crate::fault::{self, Unreadable};

/// What making and trying a key costs at the most.
pub(super) const LONG_KEY_STEPS: usize = 4_000_000;

const KEY_BYTES: usize = 32;
const SALT_BYTES: usize = 8;
/// Of the slow digest: at least so many, and more until its last byte is small enough. That is at
/// most 287, because a byte is at most 255.
const ROUNDS_MIN: usize = 64;
const ROUNDS_BEFORE_THE_BYTE: usize = 32;
/// How often a round repeats what it digests.
const REPEATED: usize = 64;

#[derive(Debug, Clone, Copy)]
pub(super) enum Revision {
    /// An extension of Adobe's, quick to try passwords on.
    Quick,
    /// What PDF 2.0 has.
    Slow,
}

impl Revision {
    pub(super) fn of(number: usize) -> Option<Revision> {
        match number {
            5 => Some(Revision::Quick),
            6 => Some(Revision::Slow),
            _ => None,
        }
    }

    /// What an empty password gives with a salt.
    fn digest(self, salt: &[u8]) -> [u8; KEY_BYTES] {
        let quick = Sha256::digest(salt);
        match self {
            Revision::Quick => quick.into(),
            Revision::Slow => slow(quick.to_vec()),
        }
    }
}

/// `proof` is a digest of the password, the salt of that, and the salt of what `wrapped` is
/// encrypted with.
pub(super) fn without_password(
    revision: Revision,
    proof: &[u8],
    wrapped: &[u8],
) -> Result<Vec<u8>, Unreadable> {
    let (digest, salts) = proof.split_at_checked(KEY_BYTES).ok_or(fault::DAMAGED)?;
    let (salt, rest) = salts.split_at_checked(SALT_BYTES).ok_or(fault::DAMAGED)?;
    let key_salt = rest.get(..SALT_BYTES).ok_or(fault::DAMAGED)?;
    let wrapped = wrapped.get(..KEY_BYTES).ok_or(fault::DAMAGED)?;
    if revision.digest(salt) != digest {
        return Err(fault::PASSWORD_PDF);
    }
    Ok(decrypt_aes(&revision.digest(key_salt), [0; BLOCK_BYTES], wrapped))
}

fn slow(mut digest: Vec<u8>) -> [u8; KEY_BYTES] {
    for round in 0.. {
        let key = std::array::from_fn(|place| digest[place]);
        let begin = std::array::from_fn(|place| digest[BLOCK_BYTES + place]);
        let encrypted = encrypt_aes128(key, begin, &digest.repeat(REPEATED));
        // The first block as a number, divided by three: 256 leaves a rest of one.
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
        for revision in [Revision::Quick, Revision::Slow] {
            for (proof, wrapped) in [(0, 32), (32, 32), (47, 32), (48, 31)] {
                let key = without_password(revision, &vec![1; proof], &vec![1; wrapped]);
                assert_eq!(key, Err(fault::DAMAGED), "{proof} {wrapped}");
            }
            let key = without_password(revision, &[1; 127], &[1; 32]);
            assert_eq!(key, Err(fault::PASSWORD_PDF));
        }
    }
}
