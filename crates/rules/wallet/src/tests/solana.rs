//! Valid payments on Solana, and what the fee payer needs to complete them.

use ed25519_dalek::{Signer, SigningKey};
use serde_json::json;

use super::solana_world::{Account, Draft};
use super::world::{now, terms};
use crate::solana::{SolanaFault, base58_signature, unsigned_payment};
use crate::{
    PaymentRefusal, PaymentTerms, SettlementData, SolanaAddress, TokenAmount, UnverifiedPayment,
    VerifiedPayment, WalletVerdict, verify_payment,
};

/// Verifies a transaction as it would arrive in a header.
pub(super) fn judge(
    terms: &PaymentTerms,
    transaction: &[u8],
) -> Result<VerifiedPayment, PaymentRefusal> {
    use base64::Engine;
    let encoded = base64::engine::general_purpose::STANDARD.encode(transaction);
    let json = json!({
        "x402Version": 2,
        "scheme": "exact",
        "network": "solana",
        "payload": { "transaction": encoded },
    });
    let payment = UnverifiedPayment::decode(super::world::header(&json).as_bytes())?;
    match verify_payment(terms, &payment, now())? {
        WalletVerdict::Verified(payment) => Ok(payment),
        WalletVerdict::NeedsContractCheck(_) => panic!("Solana has no such contracts"),
    }
}

#[test]
fn a_transfer_with_its_fee_settings_is_verified() {
    let draft = Draft::honest();
    let payment = judge(&terms(), &draft.signed()).unwrap();
    assert_eq!(payment.payer.to_string(), draft.payer_address().to_string());
    assert_eq!(payment.amount.units(), 5_000_000);
}

#[test]
fn memos_assertions_and_the_newer_token_program_are_allowed() {
    let mut draft = Draft::honest();
    draft.add_memo(b"thank you", &[]);
    draft.add_memo(b"signed", &[Account::Payer]);
    draft.add_lighthouse();
    draft.add_lighthouse();
    judge(&terms(), &draft.signed()).unwrap();
    let mut draft = Draft::honest();
    draft.use_token_2022();
    judge(&terms(), &draft.signed()).unwrap();
}

#[test]
fn the_fee_settings_may_be_as_high_as_the_caps() {
    let mut draft = Draft::honest();
    draft.set_compute_limit(100_000);
    draft.set_compute_price(5_000_000);
    judge(&terms(), &draft.signed()).unwrap();
}

#[test]
fn the_id_follows_the_message_and_not_the_signatures() {
    let honest = judge(&terms(), &Draft::honest().signed()).unwrap();
    let mut other_block = Draft::honest();
    other_block.blockhash = [8; 32];
    let other = judge(&terms(), &other_block.signed()).unwrap();
    assert_ne!(honest.id, other.id);
    assert_eq!(honest.id, judge(&terms(), &Draft::honest().signed()).unwrap().id);
}

#[test]
fn the_fee_payers_signature_completes_the_transaction() {
    let fee_payer = SigningKey::from_bytes(&[42; 32]);
    let mut terms = terms();
    let solana = terms.solana.as_mut().unwrap();
    solana.fee_payer = SolanaAddress::from_bytes(fee_payer.verifying_key().to_bytes());
    let mut draft = Draft::honest();
    draft.fee_payer = solana.fee_payer;
    let sent = draft.signed();
    let SettlementData::Solana(payment) = judge(&terms, &sent).unwrap().settlement else {
        panic!("paid on Solana");
    };
    assert_eq!(payment.recent_blockhash(), draft.blockhash);
    assert!(sent.ends_with(payment.message()));
    let signature = fee_payer.sign(payment.message()).to_bytes();
    let complete = payment.cosign(&signature);
    assert_eq!(complete[0], 2);
    assert_eq!(complete[1..65], signature);
    assert_eq!(complete[65..], sent[65..]);
}

#[test]
fn signatures_are_shown_in_base58() {
    assert_eq!(base58_signature(&[0; 64]), "1".repeat(64));
    assert_eq!(crate::encoding::base58_64(&base58_signature(&[255; 64])), Some([255; 64]));
}

#[test]
fn what_a_wallet_is_given_to_sign_keeps_the_terms() {
    let key = SigningKey::from_bytes(&[17; 32]);
    let payer = SolanaAddress::from_bytes(key.verifying_key().to_bytes());
    let amount = TokenAmount::from_units(7_250_000).unwrap();
    let mut draft = unsigned_payment(&terms(), payer, amount, [9; 32], "4f1c").unwrap();
    let unsigned = judge(&terms(), &draft);
    assert_eq!(unsigned, Err(PaymentRefusal::Solana(SolanaFault::Signature)));
    let signature = key.sign(&draft[129..]).to_bytes();
    draft[65..129].copy_from_slice(&signature);
    let payment = judge(&terms(), &draft).unwrap();
    assert_eq!(payment.payer.to_string(), payer.to_string());
    assert_eq!(payment.amount, amount);
    let SettlementData::Solana(settlement) = payment.settlement else { panic!("it is on Solana") };
    assert_eq!(settlement.recent_blockhash(), [9; 32]);
    let another = unsigned_payment(&terms(), payer, amount, [9; 32], "4f1d").unwrap();
    assert_ne!(another[129..], draft[129..], "the memo tells two payments apart");
}

#[test]
fn nobody_is_given_a_transaction_that_would_be_refused() {
    let solana = terms().solana.unwrap();
    let five = TokenAmount::from_units(5_000_000).unwrap();
    let draft = |payer, amount| unsigned_payment(&terms(), payer, amount, [9; 32], "4f1c");
    assert_eq!(draft(solana.pay_to, five), Err(SolanaFault::Payer));
    assert_eq!(draft(solana.fee_payer, five), Err(SolanaFault::Payer));
    let payer = SolanaAddress::from_bytes([17; 32]);
    let little = TokenAmount::from_units(4_999_999).unwrap();
    let much = TokenAmount::from_units(10_000_000_001).unwrap();
    assert!(matches!(draft(payer, little), Err(SolanaFault::Amount(_))));
    assert!(matches!(draft(payer, much), Err(SolanaFault::Amount(_))));
}
