//! API key secrets: generation, validation and lookup by digest.
//!
//! A secret is `SERVICE_<KIND>_KEY_` followed by 43 random characters and a checksum of 6. The
//! checksum distinguishes a mistyped key from an unknown one without a database read. The database
//! stores HMAC-SHA256 of the secret under the installation's pepper: it reveals no key, and looking
//! up a digest takes the same time for every input.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::access::KeyKind;
use crate::entropy::EntropySource;

const RANDOM_CHARACTERS: usize = 43;
const CHECKSUM_CHARACTERS: usize = 6;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Maximum length of a credential; longer ones are not keys of this service.
pub const SECRET_BYTES_MAX: usize = 512;

/// The installation's HMAC key for secret digests.
#[derive(Clone)]
pub struct SecretPepper {
    /// HMAC with the key already set up, which is half of the work of a digest.
    keyed: Hmac<Sha256>,
}

impl SecretPepper {
    pub fn new(bytes: &[u8; 32]) -> SecretPepper {
        let keyed = Hmac::new_from_slice(bytes).expect("HMAC takes a key of any length");
        SecretPepper { keyed }
    }
}

/// The digest that is stored and looked up instead of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SecretDigest(pub [u8; 32]);

/// The form of a credential, checked without a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialForm {
    /// It has our form and its checksum is correct.
    WellFormed,
    /// It starts like our keys, but characters are missing or wrong.
    Mistyped,
    /// It has another form, such as a key that the operator chose.
    Foreign,
}

pub fn mint_secret(kind: KeyKind, entropy: &dyn EntropySource) -> String {
    let secret = secret_prefix(kind).to_owned() + &random_text(RANDOM_CHARACTERS, entropy);
    let sum = compute_checksum(&secret);
    secret + &sum
}

/// Random letters and digits, uniformly distributed.
pub fn random_text(characters: usize, entropy: &dyn EntropySource) -> String {
    let mut text = String::with_capacity(characters);
    let mut pool = [0u8; 64];
    while text.len() < characters {
        entropy.fill_bytes(&mut pool);
        // 248 is the largest multiple of 62 up to 256: larger bytes would make some characters more
        // likely.
        for byte in pool.iter().filter(|byte| **byte < 248).take(characters - text.len()) {
            text.push(char::from(ALPHABET[usize::from(*byte) % ALPHABET.len()]));
        }
    }
    text
}

pub fn recognise_credential(text: &str) -> CredentialForm {
    let kinds = [KeyKind::Inference, KeyKind::Admin, KeyKind::Operator];
    let Some(body) = kinds.iter().find_map(|kind| text.strip_prefix(secret_prefix(*kind))) else {
        return CredentialForm::Foreign;
    };
    let is_whole = body.len() == RANDOM_CHARACTERS + CHECKSUM_CHARACTERS && body.is_ascii();
    if !is_whole {
        return CredentialForm::Mistyped;
    }
    let (signed, sum) = text.split_at(text.len() - CHECKSUM_CHARACTERS);
    if compute_checksum(signed) == sum {
        CredentialForm::WellFormed
    } else {
        CredentialForm::Mistyped
    }
}

/// The current pepper, and the previous one while keys are still stored under it.
#[derive(Clone)]
pub struct PepperPair {
    pub current: SecretPepper,
    pub before: Option<SecretPepper>,
}

pub fn digest_secret(pepper: &SecretPepper, secret: &str) -> SecretDigest {
    let mut mac = pepper.keyed.clone();
    mac.update(secret.as_bytes());
    SecretDigest(mac.finalize().into_bytes().into())
}

/// The last six characters of a secret, by which its owner recognizes it.
pub fn last_six_characters(secret: &str) -> String {
    let characters: Vec<char> = secret.chars().collect();
    characters[characters.len().saturating_sub(6)..].iter().collect()
}

fn secret_prefix(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Inference => "SERVICE_INFERENCE_KEY_",
        KeyKind::Admin => "SERVICE_ADMIN_KEY_",
        KeyKind::Operator => "SERVICE_OPERATOR_KEY_",
    }
}

fn compute_checksum(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    let mut number = u64::from_be_bytes([
        hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6], hash[7],
    ]);
    let mut characters = String::with_capacity(CHECKSUM_CHARACTERS);
    for _ in 0..CHECKSUM_CHARACTERS {
        let index = usize::try_from(number % 62).unwrap_or(0);
        characters.push(char::from(ALPHABET[index]));
        number /= 62;
    }
    characters
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counting;

    impl EntropySource for Counting {
        fn fill_bytes(&self, bytes: &mut [u8]) {
            for (index, byte) in bytes.iter_mut().enumerate() {
                *byte = u8::try_from(index * 7 % 256).unwrap();
            }
        }
    }

    #[test]
    fn a_minted_secret_is_recognised_and_a_changed_one_is_not() {
        for kind in [KeyKind::Inference, KeyKind::Admin, KeyKind::Operator] {
            let secret = mint_secret(kind, &Counting);
            assert_eq!(recognise_credential(&secret), CredentialForm::WellFormed, "{secret}");
            for index in secret_prefix(kind).len()..secret.len() {
                let mut typo: Vec<char> = secret.chars().collect();
                typo[index] = if typo[index] == 'x' { 'y' } else { 'x' };
                let typo: String = typo.into_iter().collect();
                assert_eq!(recognise_credential(&typo), CredentialForm::Mistyped, "{typo}");
            }
            assert_eq!(recognise_credential(&secret[..secret.len() - 1]), CredentialForm::Mistyped);
            assert_eq!(recognise_credential(&format!("{secret}0")), CredentialForm::Mistyped);
        }
    }

    #[test]
    fn other_texts_are_foreign_or_mistyped_but_never_ours() {
        for text in ["", "sk-abc", "Bearer", "SERVICE_ADMIN_KEY", "ключ"] {
            assert_eq!(recognise_credential(text), CredentialForm::Foreign, "{text}");
        }
        for text in ["SERVICE_ADMIN_KEY_", "SERVICE_INFERENCE_KEY_ключключключключключключ"]
        {
            assert_eq!(recognise_credential(text), CredentialForm::Mistyped, "{text}");
        }
    }

    #[test]
    fn a_digest_depends_on_the_pepper() {
        let digests = [SecretPepper::new(&[1; 32]), SecretPepper::new(&[2; 32])]
            .map(|pepper| digest_secret(&pepper, "secret"));
        assert_ne!(digests[0], digests[1]);
    }

    #[test]
    fn the_last_six_characters_of_anything_can_be_shown() {
        assert_eq!(last_six_characters("abcdefgh"), "cdefgh");
        assert_eq!(last_six_characters("abc"), "abc");
        assert_eq!(last_six_characters("ключи́ё"), "ключи́ё".chars().skip(1).collect::<String>());
    }
}
