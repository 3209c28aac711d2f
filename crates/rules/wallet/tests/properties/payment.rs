//! Payments: a decoded header survives encoding, and only signed values are verified.

use alloy_primitives::{U256, hex};
use serde_json::{Value, json};
use wallet::evm::{PayerSignature, SETTLE_MARGIN_S, TransferAuthorization};
use wallet::solana::TRANSACTION_BYTES_MAX;
use wallet::{
    EvmAddress, HEADER_BYTES_MAX, PaymentProof, PaymentRefusal, SIGNATURE_BYTES_MAX,
    SettlementData, UnverifiedPayment, VerifiedPayment, WalletAddress, WalletVerdict,
    verify_payment,
};

use super::world::{NOW_S, Payer, evm_terms, header, now, spoiled, terms, terms_on};

/// The text of a refusal goes into the body and a header of the response.
const WORDS_BYTES_MAX: usize = 512;
/// The call of a contract wallet's payment: seven words, the longest signature, and its padding.
const CALL_BYTES_MAX: usize = 4 + 32 * 10 + SIGNATURE_BYTES_MAX + 32;

/// Takes the input as the value of a payment header.
pub(crate) fn payment_header(bytes: &[u8]) -> bool {
    let payment = match UnverifiedPayment::decode(bytes) {
        Ok(payment) => payment,
        Err(refusal) => {
            check_words(&refusal);
            return false;
        }
    };
    assert!(bytes.len() <= HEADER_BYTES_MAX, "a header beyond the bound was looked at");
    match &payment.proof {
        PaymentProof::Evm { signature, .. } => assert!(signature.len() <= SIGNATURE_BYTES_MAX),
        PaymentProof::Solana { transaction } => assert!(transaction.len() <= TRANSACTION_BYTES_MAX),
    }
    let terms = terms_on(payment.network);
    let requirement =
        terms.build_requirement(payment.network, terms.minimum).expect("it is offered");
    let written = payment.to_payload(&requirement);
    let read = UnverifiedPayment::read(written.clone()).expect("what we write can be read");
    assert_eq!((read.network, &read.proof), (payment.network, &payment.proof));
    assert_eq!(read.to_payload(&requirement), written, "writing it down again changes nothing");
    match verify_payment(&terms, &payment, now()) {
        Ok(verdict) => matches!(verdict, WalletVerdict::Verified(_)),
        Err(refusal) => {
            check_words(&refusal);
            false
        }
    }
}

/// Takes the input as the JSON of a payment; or, if it is not JSON, as an authorization that the
/// known payer signs.
pub(crate) fn payment_payload(bytes: &[u8]) -> bool {
    let mut is_verified = payment_header(&header(bytes));
    if let Ok(payment) = UnverifiedPayment::decode(&header(bytes)) {
        match verify_payment(&terms(), &payment, now()) {
            Ok(WalletVerdict::Verified(verified)) => check_verified(&payment, &verified),
            Ok(WalletVerdict::NeedsContractCheck(unconfirmed)) => {
                assert!(unconfirmed.check.signature.len() <= SIGNATURE_BYTES_MAX);
                check_words(&unconfirmed.to_refusal());
            }
            Err(refusal) => check_words(&refusal),
        }
    }
    let is_json = bytes.first() == Some(&b'{');
    if let Some(authorization) = authorization(bytes).filter(|_| !is_json) {
        is_verified |= check_signed(&authorization, bytes);
    }
    is_verified
}

/// The verified payment has the signed values: payer, recipient, amount and chain.
fn check_verified(payment: &UnverifiedPayment, verified: &VerifiedPayment) {
    assert_eq!(verified.network, payment.network);
    let (PaymentProof::Evm { authorization, .. }, SettlementData::Evm(settlement)) =
        (&payment.proof, &verified.settlement)
    else {
        return;
    };
    assert_eq!(&settlement.authorization, authorization);
    assert_eq!(U256::from(verified.amount.units()), authorization.value);
    assert_eq!(verified.payer, WalletAddress::Evm(authorization.from));
    assert_eq!(authorization.to, evm_terms(8453).pay_to);
    assert!(matches!(settlement.signature, PayerSignature::ByKey(_)));
    assert!(settlement.calldata().len() <= CALL_BYTES_MAX);
}

/// The known payer's signature is valid exactly if the authorization meets the terms, and no other
/// signature is.
fn check_signed(authorization: &TransferAuthorization, seed: &[u8]) -> bool {
    let (payer, evm, terms) = (Payer::known(), evm_terms(8453), terms());
    let signature = payer.sign(authorization.signing_digest(&evm));
    let judged = judge(authorization, &signature);
    let (low, high) = (terms.minimum.units(), terms.maximum.units());
    let now_s = U256::from(NOW_S);
    let keeps_the_terms = authorization.to == evm.pay_to
        && U256::from(low) <= authorization.value
        && authorization.value <= U256::from(high)
        && authorization.valid_after <= now_s
        && now_s + U256::from(SETTLE_MARGIN_S) <= authorization.valid_before;
    assert_eq!(matches!(judged, Ok(WalletVerdict::Verified(_))), keeps_the_terms, "{judged:?}");
    let judged = judge(authorization, &spoiled(&signature, seed));
    assert!(!matches!(judged, Ok(WalletVerdict::Verified(_))), "a spoiled signature: {judged:?}");
    let other = spoiled(&authorization.nonce, seed).try_into().expect("it is as long");
    let other = TransferAuthorization { nonce: other, ..authorization.clone() };
    let judged = judge(&other, &signature);
    assert!(!matches!(judged, Ok(WalletVerdict::Verified(_))), "another nonce: {judged:?}");
    keeps_the_terms
}

fn judge(
    authorization: &TransferAuthorization,
    signature: &[u8],
) -> Result<WalletVerdict<VerifiedPayment>, PaymentRefusal> {
    let json = json!({
        "x402Version": 2,
        "accepted": { "scheme": "exact", "network": "eip155:8453" },
        "payload": {
            "signature": hex::encode_prefixed(signature),
            "authorization": written(authorization),
        },
    });
    let payment = UnverifiedPayment::decode(&header(json.to_string().as_bytes()))?;
    verify_payment(&terms(), &payment, now())
}

fn written(authorization: &TransferAuthorization) -> Value {
    json!({
        "from": authorization.from.to_string(),
        "to": authorization.to.to_string(),
        "value": authorization.value.to_string(),
        "validAfter": authorization.valid_after.to_string(),
        "validBefore": authorization.valid_before.to_string(),
        "nonce": hex::encode_prefixed(authorization.nonce),
    })
}

/// Builds an authorization from the input's last bytes: near the limits of the terms, or as wide as
/// the contract's numbers.
fn authorization(bytes: &[u8]) -> Option<TransferAuthorization> {
    let (rest, last) = bytes.split_last_chunk::<33>()?;
    let (kind, nonce) = last.split_first()?;
    let near = |middle: i64, at: usize| {
        let offset = i64::from(i8::from_le_bytes([nonce[at]]));
        U256::from(u64::try_from(middle + offset).unwrap_or(0))
    };
    let wide = |start: usize| {
        let word: [u8; 32] = rest.get(start..start + 32)?.try_into().ok()?;
        Some(U256::from_be_bytes(word))
    };
    let pay_to = evm_terms(8453).pay_to;
    let elsewhere = EvmAddress::from_bytes([nonce[0]; 20]);
    Some(TransferAuthorization {
        from: Payer::known().address(),
        to: if kind & 1 == 0 { pay_to } else { elsewhere },
        value: if kind & 2 == 0 { near(5_000_000, 1) } else { wide(0)? },
        valid_after: if kind & 4 == 0 { near(NOW_S, 2) } else { wide(32)? },
        valid_before: if kind & 8 == 0 { near(NOW_S, 3) } else { wide(64)? },
        nonce: nonce.try_into().ok()?,
    })
}

fn check_words(refusal: &PaymentRefusal) {
    let words = refusal.to_string();
    assert!(!words.is_empty() && words.len() <= WORDS_BYTES_MAX, "{words}");
    assert!(!refusal.code().is_empty() && !refusal.reason().is_empty());
}
