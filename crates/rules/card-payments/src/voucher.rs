//! Vouchers: codes that are worth credit, once each.

use hmac::{Hmac, KeyInit, Mac};
use ledger_core::{EntryId, OwnerId};
use moment::Timestamp;
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::amount::UsdCents;
use crate::entry::derive_entry;

/// The random bytes of a code: 90 of their bits are used.
pub const VOUCHER_ENTROPY_BYTES: usize = 12;

/// Crockford's alphabet: without I, L, O and U, which are misread.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const RANDOM_CHARACTERS: usize = 18;
const CHECK_CHARACTERS: usize = 2;
const CODE_CHARACTERS: usize = RANDOM_CHARACTERS + CHECK_CHARACTERS;
const GROUP_CHARACTERS: usize = 5;
const TYPED_BYTES_MAX: usize = 64;

/// Digests codes. The store has no code, only its digest.
#[derive(Clone)]
pub struct VoucherSecret(Hmac<Sha256>);

impl VoucherSecret {
    /// `secret` is the same on every node, and stays the same as long as vouchers are valid.
    pub fn new(secret: &[u8; 32]) -> VoucherSecret {
        VoucherSecret(Hmac::new_from_slice(secret).expect("HMAC takes a key of any length"))
    }

    /// The digest by which the row of a code is found. `code` is from [`normalize_voucher_code`].
    pub fn digest_code(&self, code: &str) -> [u8; 32] {
        let mut mac = self.0.clone();
        mac.update(b"voucher\0");
        mac.update(code.as_bytes());
        mac.finalize().into_bytes().into()
    }
}

/// A voucher's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoucherRow {
    pub digest: [u8; 32],
    pub amount: UsdCents,
    pub expires: Option<Timestamp>,
    pub redeemed: Option<VoucherRedemption>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VoucherRedemption {
    pub owner: OwnerId,
    pub at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedemptionDecision {
    /// Grants the amount and stores the redemption, in one transaction that fails if the voucher is
    /// redeemed by then. The entry follows from the voucher: the journal accepts it once.
    Redeem {
        entry: EntryId,
        redemption: VoucherRedemption,
    },
    /// The owner has redeemed it: a repetition after a lost answer.
    RedeemedBefore(VoucherRedemption),
    Refused(RedemptionRefusal),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum RedemptionRefusal {
    #[error("This voucher code does not exist")]
    Unknown,
    #[error("This voucher was redeemed already")]
    Redeemed,
    #[error("This voucher has expired")]
    Expired,
}

/// A new code from random bytes: four groups of five characters, the last two of which are a
/// checksum.
pub fn mint_voucher_code(entropy: &[u8; VOUCHER_ENTROPY_BYTES]) -> String {
    let mut bits = entropy.iter().fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
    let mut code = String::with_capacity(CODE_CHARACTERS);
    for _ in 0..RANDOM_CHARACTERS {
        code.push(alphabet_character(bits));
        bits >>= 5;
    }
    code += &compute_check(&code);
    let mut grouped = String::with_capacity(CODE_CHARACTERS + 3);
    for (index, character) in code.chars().enumerate() {
        if index != 0 && index % GROUP_CHARACTERS == 0 {
            grouped.push('-');
        }
        grouped.push(character);
    }
    grouped
}

/// The code that a person has typed, in the one form that is digested: without spaces and hyphens, in
/// upper case, with misread letters replaced. None if it cannot be a code, which a database is not
/// asked for.
pub fn normalize_voucher_code(typed: &str) -> Option<String> {
    if TYPED_BYTES_MAX < typed.len() {
        return None;
    }
    let kept = typed.chars().filter(|it| !it.is_whitespace() && *it != '-');
    let code: String = kept
        .map(|it| match it.to_ascii_uppercase() {
            'O' => '0',
            'I' | 'L' => '1',
            other => other,
        })
        .collect();
    let is_sized = code.len() == CODE_CHARACTERS;
    let is_plain = code.bytes().all(|byte| ALPHABET.contains(&byte));
    if !is_sized || !is_plain {
        return None;
    }
    let (random, check) = code.split_at(RANDOM_CHARACTERS);
    let is_checked = compute_check(random) == check;
    is_checked.then_some(code)
}

/// Decides about a voucher for an owner. `row` is the one with the digest of the code.
pub fn decide_redemption(
    row: Option<&VoucherRow>,
    owner: OwnerId,
    now: Timestamp,
) -> RedemptionDecision {
    let Some(row) = row else {
        return RedemptionDecision::Refused(RedemptionRefusal::Unknown);
    };
    match row.redeemed {
        Some(before) if before.owner == owner => RedemptionDecision::RedeemedBefore(before),
        Some(_) => RedemptionDecision::Refused(RedemptionRefusal::Redeemed),
        None if row.expires.is_some_and(|expires| expires <= now) => {
            RedemptionDecision::Refused(RedemptionRefusal::Expired)
        }
        None => RedemptionDecision::Redeem {
            entry: derive_entry("voucher", &[&row.digest]),
            redemption: VoucherRedemption { owner, at: now },
        },
    }
}

fn compute_check(random: &str) -> String {
    let hash = Sha256::digest(random.as_bytes());
    let bits = u128::from(hash[0]) << 8 | u128::from(hash[1]);
    [alphabet_character(bits), alphabet_character(bits >> 5)].iter().collect()
}

/// The character of the lowest five bits.
fn alphabet_character(bits: u128) -> char {
    let index = usize::try_from(bits & 31).unwrap_or(0);
    char::from(ALPHABET[index])
}
