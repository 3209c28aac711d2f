//! Attacks by a payer on Solana, which aim at the fee payer's signature.

use super::solana::judge;
use super::solana_world::{Account, Draft, ELSEWHERE};
use super::world::{solana, solana_terms, terms};
use crate::SolanaAddress;
use crate::solana::{TOKEN, token_account};

/// Changes a valid transaction before its payer signs it.
#[track_caller]
fn check(spoil: impl FnOnce(&mut Draft), expected: &str) {
    let mut draft = Draft::honest();
    spoil(&mut draft);
    check_bytes(&draft.signed(), expected);
}

#[track_caller]
fn check_bytes(transaction: &[u8], expected: &str) {
    let refusal = judge(&terms(), transaction).unwrap_err();
    assert_eq!(format!("{} {}", refusal.code(), refusal.reason()), expected);
}

const INVOLVED: &str = "INVALID_PAYMENT_PAYER \
                        invalid_exact_svm_payload_transaction_fee_payer_transferring_funds";
const UNKNOWN: &str =
    "PAYMENT_VERIFICATION_FAILED invalid_exact_svm_payload_unknown_fourth_instruction";
const FEE_PAYER: &str = "PAYMENT_VERIFICATION_FAILED fee_payer_not_managed_by_facilitator";
const SIGNERS: &str = "PAYMENT_VERIFICATION_FAILED invalid_exact_svm_payload_transaction";
const UNREADABLE: &str =
    "INVALID_PAYMENT_FORMAT invalid_exact_svm_payload_transaction_could_not_be_decoded";
const TRANSFER: &str =
    "PAYMENT_VERIFICATION_FAILED invalid_exact_svm_payload_no_transfer_instruction";
const COUNT: &str =
    "PAYMENT_VERIFICATION_FAILED invalid_exact_svm_payload_transaction_instructions_length";
const LIMIT: &str = "PAYMENT_VERIFICATION_FAILED \
                     invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction";
const PRICE: &str = "PAYMENT_VERIFICATION_FAILED \
                     invalid_exact_svm_payload_transaction_instructions_compute_price_instruction";
const SIGNATURE: &str = "X402_INVALID_PAYMENT invalid_exact_svm_payload_signature_invalid";

#[test]
fn the_fee_payer_cannot_be_the_authority() {
    check(|draft| draft.instructions[2].accounts[3] = Account::FeePayer, INVOLVED);
}

#[test]
fn the_fee_payers_own_tokens_cannot_be_the_source() {
    let terms = solana_terms();
    let theirs = token_account(terms.fee_payer, TOKEN, terms.mint).unwrap();
    check(|draft| draft.instructions[2].accounts[0] = Account::At(theirs), INVOLVED);
    check(|draft| draft.instructions[2].accounts[0] = Account::FeePayer, INVOLVED);
}

#[test]
fn the_fee_payer_cannot_be_in_a_memos_accounts() {
    check(|draft| draft.add_memo(b"hello", &[Account::FeePayer]), INVOLVED);
}

#[test]
fn the_fee_payer_cannot_be_called_as_a_program() {
    check(|draft| draft.instructions[2].program = draft.fee_payer, UNREADABLE);
}

#[test]
fn six_lamports_a_compute_unit_are_too_much() {
    check(|draft| draft.set_compute_price(6_000_000), &format!("{PRICE}_too_high"));
    check(|draft| draft.set_compute_price(u64::MAX), &format!("{PRICE}_too_high"));
}

#[test]
fn the_compute_limit_is_capped() {
    check(|draft| draft.set_compute_limit(100_001), LIMIT);
    check(|draft| draft.set_compute_limit(u32::MAX), LIMIT);
}

#[test]
fn the_fee_settings_must_be_there_in_their_order_and_whole() {
    check(|draft| draft.instructions.swap(0, 1), LIMIT);
    check(|draft| draft.instructions.swap(1, 2), PRICE);
    check(|draft| draft.instructions[0].data.push(0), LIMIT);
    check(|draft| draft.instructions[1].data.truncate(8), PRICE);
    check(|draft| draft.instructions[1].data.clear(), PRICE);
    check(|draft| draft.instructions[0].program = TOKEN, LIMIT);
}

#[test]
fn a_second_transfer_is_refused() {
    check(
        |draft| {
            let second = draft.transfer(TOKEN, 1);
            draft.instructions.push(second);
        },
        UNKNOWN,
    );
}

#[test]
fn creating_a_token_account_at_our_cost_is_refused() {
    check(Draft::add_create_token_account, UNKNOWN);
}

#[test]
fn other_programs_are_refused() {
    check(
        |draft| {
            draft.add_memo(b"", &[]);
            draft.add_lighthouse();
            draft.add_memo(b"", &[]);
            draft.instructions[5].program = solana("11111111111111111111111111111111");
        },
        UNKNOWN,
    );
    check(|draft| draft.instructions[2].program = ELSEWHERE, TRANSFER);
}

#[test]
fn too_few_and_too_many_instructions_are_refused() {
    check(|draft| draft.instructions.truncate(2), COUNT);
    check(|draft| (0..5).for_each(|_| draft.add_memo(b"", &[])), COUNT);
}

#[test]
fn address_lookup_tables_are_refused() {
    let expected = "PAYMENT_VERIFICATION_FAILED \
                    invalid_exact_svm_payload_transaction_could_not_be_decoded";
    check_bytes(&Draft::honest().signed_with_lookup_table(), expected);
}

#[test]
fn a_legacy_transaction_is_refused() {
    check_bytes(&Draft::honest().signed_as_legacy(), UNREADABLE);
}

#[test]
fn another_fee_payer_is_refused() {
    check(|draft| draft.fee_payer = ELSEWHERE, FEE_PAYER);
}

#[test]
fn a_signature_in_the_fee_payers_place_is_refused() {
    let mut bytes = Draft::honest().signed();
    bytes[1] = 1;
    check_bytes(&bytes, FEE_PAYER);
}

#[test]
fn a_third_signer_is_refused() {
    check(|draft| draft.extra_signer = Some(ELSEWHERE), SIGNERS);
}

#[test]
fn a_signer_without_a_signature_is_refused() {
    let mut draft = Draft::honest();
    draft.extra_signer = Some(ELSEWHERE);
    let mut bytes = draft.signed();
    bytes[0] = 2;
    bytes.drain(129..193);
    check_bytes(&bytes, UNREADABLE);
}

#[test]
fn the_authority_must_be_the_one_who_signs() {
    check(|draft| draft.instructions[2].accounts[3] = Account::At(ELSEWHERE), SIGNERS);
}

#[test]
fn a_changed_message_no_longer_fits_its_signature() {
    let honest = Draft::honest();
    let mut raised = Draft::honest();
    raised.set_units(9_000_000);
    let mut bytes = raised.signed();
    bytes[65..129].copy_from_slice(&honest.signed()[65..129]);
    check_bytes(&bytes, SIGNATURE);
    let mut unsigned = honest.signed();
    unsigned[65..129].fill(0);
    check_bytes(&unsigned, SIGNATURE);
}

#[test]
fn a_key_of_small_order_cannot_sign() {
    // The point of order one is a key under which an all-zero signature passes a lax check.
    let mut identity = [0; 32];
    identity[0] = 1;
    let forged = crate::solana::is_signed_by(
        SolanaAddress::from_bytes(identity),
        b"any message",
        &[&identity[..], &[0; 32]].concat().try_into().unwrap(),
    );
    assert!(!forged);
}

#[test]
fn another_mint_recipient_or_amount_is_refused() {
    let mint = "UNSUPPORTED_TOKEN invalid_exact_svm_payload_mint_mismatch";
    check(|draft| draft.instructions[2].accounts[1] = Account::At(ELSEWHERE), mint);
    let recipient = "INVALID_PAYMENT_RECIPIENT invalid_exact_svm_payload_recipient_mismatch";
    check(|draft| draft.instructions[2].accounts[2] = Account::At(ELSEWHERE), recipient);
    let pay_to = Account::At(solana_terms().pay_to);
    check(|draft| draft.instructions[2].accounts[2] = pay_to, recipient);
    let amount = "invalid_exact_svm_payload_amount_mismatch";
    check(|draft| draft.set_units(4_999_999), &format!("AMOUNT_TOO_LOW {amount}"));
    check(|draft| draft.set_units(10_000_000_001), &format!("AMOUNT_TOO_HIGH {amount}"));
    check(|draft| draft.set_units(u64::MAX), &format!("AMOUNT_TOO_HIGH {amount}"));
}

#[test]
fn money_that_goes_in_a_circle_is_refused() {
    let terms = solana_terms();
    let ours = token_account(terms.pay_to, TOKEN, terms.mint).unwrap();
    let payer = "INVALID_PAYMENT_PAYER invalid_payload";
    check(|draft| draft.instructions[2].accounts[0] = Account::At(ours), payer);
    check(|draft| draft.instructions[2].accounts[3] = Account::At(terms.pay_to), payer);
}

#[test]
fn a_transfer_must_be_a_checked_one_with_six_decimals() {
    check(|draft| draft.instructions[2].data[0] = 3, TRANSFER);
    check(|draft| draft.instructions[2].data[9] = 9, TRANSFER);
    check(|draft| draft.instructions[2].data.push(0), TRANSFER);
    check(|draft| draft.instructions[2].data.truncate(5), TRANSFER);
    check(|draft| draft.instructions[2].accounts.push(Account::Payer), TRANSFER);
}

#[test]
fn cut_and_padded_transactions_are_refused() {
    let whole = Draft::honest().signed();
    for length in 0..whole.len() {
        check_bytes(&whole[..length], UNREADABLE);
    }
    check_bytes(&[&whole[..], &[0]].concat(), UNREADABLE);
}

#[test]
fn more_than_fits_into_a_packet_is_refused() {
    let oversized = vec![0; crate::solana::TRANSACTION_BYTES_MAX + 1];
    check_bytes(&oversized, "INVALID_PAYMENT_FORMAT invalid_payload");
}
