//! Voucher codes and their redemption.

use std::time::Duration;

use ledger_core::OwnerId;
use proptest::prelude::*;
use uuid::Uuid;

use super::world::{cents, now};
use crate::*;

fn owner(number: u128) -> OwnerId {
    OwnerId(Uuid::from_u128(number))
}

fn row() -> VoucherRow {
    VoucherRow { digest: [1; 32], amount: cents(1000), expires: None, redeemed: None }
}

#[test]
fn codes_are_typed_as_people_do() {
    let code = mint_voucher_code(&[0x5a; 12]);
    assert_eq!(code.len(), 23, "{code}");
    let plain = normalize_voucher_code(&code).unwrap();
    assert_eq!(plain, code.replace('-', ""));
    let sloppy = format!(" {} ", code.to_lowercase().replace('-', " "));
    assert_eq!(normalize_voucher_code(&sloppy), Some(plain.clone()));
    let misread = mint_voucher_code(&[0; 12]).replace('0', "O");
    assert!(normalize_voucher_code(&misread).is_some(), "{misread}");
    for text in ["", "ABCDE", &code[1..], &format!("{code}0"), &"é".repeat(20), &"0".repeat(100)] {
        assert_eq!(normalize_voucher_code(text), None, "{text}");
    }
    let secret = VoucherSecret::new(&[7; 32]);
    assert_ne!(secret.digest_code(&plain), VoucherSecret::new(&[8; 32]).digest_code(&plain));
}

#[test]
fn most_typos_are_found_without_a_database() {
    let code = normalize_voucher_code(&mint_voucher_code(&[0xa7; 12])).unwrap();
    let mut unnoticed = 0;
    for index in 0..code.len() {
        for other in "0123456789ABCDEFGHJKMNPQRSTVWXYZ".chars() {
            let mut typo: Vec<char> = code.chars().collect();
            if typo[index] != other {
                typo[index] = other;
                let typo: String = typo.into_iter().collect();
                unnoticed += usize::from(normalize_voucher_code(&typo).is_some());
            }
        }
    }
    assert!(unnoticed <= 5, "{unnoticed} of 620");
}

#[test]
fn a_voucher_is_redeemed_once() {
    let decide = |row: &VoucherRow, number, at| decide_redemption(Some(row), owner(number), at);
    let RedemptionDecision::Redeem { entry, redemption } = decide(&row(), 1, now()) else {
        panic!("a new voucher");
    };
    assert_eq!(redemption, VoucherRedemption { owner: owner(1), at: now() });
    // Two nodes that decide at once make the same entry, whoever the owner is.
    let RedemptionDecision::Redeem { entry: rival, .. } = decide(&row(), 2, now()) else {
        panic!("a new voucher");
    };
    assert_eq!(entry, rival);
    let used = VoucherRow { redeemed: Some(redemption), ..row() };
    assert_eq!(decide(&used, 1, now()), RedemptionDecision::RedeemedBefore(redemption));
    let refused = RedemptionDecision::Refused;
    assert_eq!(decide(&used, 2, now()), refused(RedemptionRefusal::Redeemed));
    let unknown = decide_redemption(None, owner(1), now());
    assert_eq!(unknown, refused(RedemptionRefusal::Unknown));
    let expiring = VoucherRow { expires: Some(now().plus(Duration::from_millis(1))), ..row() };
    assert!(matches!(decide(&expiring, 1, now()), RedemptionDecision::Redeem { .. }));
    let expired = VoucherRow { expires: Some(now()), ..row() };
    assert_eq!(decide(&expired, 1, now()), refused(RedemptionRefusal::Expired));
    let lost = VoucherRow { redeemed: Some(redemption), ..expired };
    assert_eq!(decide(&lost, 1, now()), RedemptionDecision::RedeemedBefore(redemption));
}

proptest! {
    #[test]
    fn every_code_is_read_and_different_bits_are_different_codes(
        one: [u8; VOUCHER_ENTROPY_BYTES], other: [u8; VOUCHER_ENTROPY_BYTES], typed in "(?s).{0,70}",
    ) {
        let code = mint_voucher_code(&one);
        prop_assert!(normalize_voucher_code(&code).is_some());
        let bits = |bytes: [u8; VOUCHER_ENTROPY_BYTES]| {
            bytes.iter().fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte)) & ((1 << 90) - 1)
        };
        prop_assert_eq!(bits(one) == bits(other), code == mint_voucher_code(&other));
        let _ = normalize_voucher_code(&typed);
    }
}
