//! The ciphers and the digest of PDF encryption. Here they are part of a file format and protect
//! nothing: the files open without a secret.

use aes::{Aes128, Aes256};
use cbc::cipher::block_padding::NoPadding;
use cbc::cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyIvInit};
use cbc::{Decryptor, Encryptor};
use md5::{Digest, Md5};
use rc4::{KeyInit, Rc4, StreamCipher};

pub(super) const BLOCK_BYTES: usize = 16;

type AesBlock = [u8; BLOCK_BYTES];

pub(super) fn digest_md5(message: &[u8]) -> [u8; 16] {
    Md5::digest(message).into()
}

/// Encrypts or decrypts, which is the same operation. Empty if the key has no bytes or more than
/// 256.
pub(super) fn apply_rc4(key: &[u8], bytes: &[u8]) -> Vec<u8> {
    let Ok(mut cipher) = Rc4::new_from_slice(key) else { return Vec::new() };
    let mut applied = bytes.to_vec();
    cipher.apply_keystream(&mut applied);
    applied
}

/// AES-CBC without padding. Empty if the key does not have 16 or 32 bytes; an incomplete block at
/// the end is dropped.
pub(super) fn decrypt_aes(key: &[u8], begin: AesBlock, bytes: &[u8]) -> Vec<u8> {
    let whole = whole_blocks(bytes);
    let decrypted = match key.len() {
        16 => decrypt_blocks::<Decryptor<Aes128>>(key, begin, whole),
        32 => decrypt_blocks::<Decryptor<Aes256>>(key, begin, whole),
        _ => None,
    };
    decrypted.unwrap_or_default()
}

/// Encrypts with AES-128-CBC without padding.
pub(super) fn encrypt_aes128(key: AesBlock, begin: AesBlock, bytes: &[u8]) -> Vec<u8> {
    let cipher = Encryptor::<Aes128>::new(&key.into(), &begin.into());
    cipher.encrypt_padded_vec::<NoPadding>(whole_blocks(bytes))
}

fn decrypt_blocks<C: KeyIvInit + BlockModeDecrypt>(
    key: &[u8],
    begin: AesBlock,
    whole: &[u8],
) -> Option<Vec<u8>> {
    C::new_from_slices(key, &begin).ok()?.decrypt_padded_vec::<NoPadding>(whole).ok()
}

fn whole_blocks(bytes: &[u8]) -> &[u8] {
    bytes.as_chunks::<BLOCK_BYTES>().0.as_flattened()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting<const N: usize>() -> [u8; N] {
        std::array::from_fn(|place| place.to_le_bytes()[0])
    }

    /// Test vectors of FIPS 197, appendix C.
    #[test]
    fn keys_of_both_lengths_decrypt_the_examples_of_the_standard() {
        let plain: AesBlock = std::array::from_fn(|place| 0x11 * place.to_le_bytes()[0]);
        let short = 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a_u128.to_be_bytes();
        let long = 0x8ea2_b7ca_5167_45bf_eafc_4990_4b49_6089_u128.to_be_bytes();
        assert_eq!(decrypt_aes(&counting::<16>(), [0; 16], &short), plain);
        assert_eq!(decrypt_aes(&counting::<32>(), [0; 16], &long), plain);
        assert_eq!(encrypt_aes128(counting(), [0; 16], &plain), short);
    }

    #[test]
    fn blocks_are_chained_and_what_is_cut_short_is_left_out() {
        let plain = counting::<48>();
        let encrypted = encrypt_aes128(counting(), [7; 16], &plain);
        assert_eq!(decrypt_aes(&counting::<16>(), [7; 16], &encrypted[..40]), plain[..32]);
        let equal = encrypt_aes128(counting(), [0; 16], &[5; 32]);
        assert_ne!(equal[..16], equal[16..]);
    }

    #[test]
    fn keys_of_other_lengths_give_nothing() {
        assert_eq!(decrypt_aes(&[1; 10], [0; 16], &[1; 16]), b"");
        assert_eq!(apply_rc4(&[], b"text"), b"");
    }

    #[test]
    fn rc4_takes_keys_of_any_length() {
        assert_eq!(apply_rc4(b"Key", b"Plaintext"), b"\xbb\xf3\x16\xe8\xd9\x40\xaf\x0a\xd3");
        // RFC 6229, at an offset of 768 bytes.
        assert_eq!(apply_rc4(&[1, 2, 3, 4, 5], &[0; 1_000])[768..772], [0xeb, 0x62, 0x63, 0x8d]);
    }
}
