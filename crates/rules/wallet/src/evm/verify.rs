//! The rules of a payment on an EVM chain.

use alloy_primitives::U256;
use moment::Timestamp;
use thiserror::Error;

use super::authorization::TransferAuthorization;
use super::calls::{transfer_by_contract, transfer_by_key};
use super::signature::{KeySignature, SignatureCheck, SignatureForm, check_signature};
use crate::address::{EvmAddress, WalletAddress};
use crate::amount::TokenAmount;
use crate::payment::{SettlementData, VerifiedPayment};
use crate::payment_id::PaymentId;
use crate::refusal::PaymentRefusal;
use crate::terms::{AmountFault, EvmTerms, PaymentTerms};
use crate::verdict::{PendingContractCheck, WalletVerdict};

/// The least time that a transaction takes to reach the chain; the reference facilitator uses the
/// same. An authorization that expires sooner counts as expired.
pub const SETTLE_MARGIN_S: u64 = 6;

/// The reason why an authorization is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum EvmFault {
    #[error("The recipient is wrong: `to` must be the `payTo` in `accepts`")]
    Recipient,
    #[error("The payer cannot be the recipient or the zero address")]
    Payer,
    #[error("{0}")]
    Amount(AmountFault),
    #[error("The authorization is not valid yet: sign one with an earlier `validAfter`")]
    NotYetValid,
    #[error("The authorization has expired or is about to: sign a new one")]
    Expired,
    #[error("The signature is not the payer's, or is not 65 bytes with a low s and v 27 or 28")]
    Signature,
    #[error("The payer's contract wallet is not deployed: deploy it, or pay with a key")]
    UndeployedWallet,
}

impl EvmFault {
    pub(crate) fn code(self) -> &'static str {
        match self {
            EvmFault::Recipient => "INVALID_PAYMENT_RECIPIENT",
            EvmFault::Payer => "INVALID_PAYMENT_PAYER",
            EvmFault::Amount(fault) => fault.code(),
            EvmFault::NotYetValid | EvmFault::Expired => "PAYMENT_VERIFICATION_FAILED",
            EvmFault::Signature | EvmFault::UndeployedWallet => "X402_INVALID_PAYMENT",
        }
    }

    pub(crate) fn reason(self) -> &'static str {
        match self {
            EvmFault::Recipient => "invalid_exact_evm_payload_recipient_mismatch",
            EvmFault::Payer => "invalid_payload",
            EvmFault::Amount(_) => "invalid_exact_evm_payload_authorization_value_mismatch",
            EvmFault::NotYetValid => "invalid_exact_evm_payload_authorization_valid_after",
            EvmFault::Expired => "invalid_exact_evm_payload_authorization_valid_before",
            EvmFault::Signature => "invalid_exact_evm_payload_signature",
            EvmFault::UndeployedWallet => "invalid_exact_evm_payload_undeployed_smart_wallet",
        }
    }
}

/// An authorization that meets the terms, ready to be sent to the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvmPayment {
    pub authorization: TransferAuthorization,
    pub signature: PayerSignature,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PayerSignature {
    ByKey(KeySignature),
    ByContract(Vec<u8>),
}

impl EvmPayment {
    /// The input of the transaction to the token that moves the money.
    pub fn calldata(&self) -> Vec<u8> {
        match &self.signature {
            PayerSignature::ByKey(signature) => transfer_by_key(&self.authorization, signature),
            PayerSignature::ByContract(signature) => {
                transfer_by_contract(&self.authorization, signature)
            }
        }
    }
}

pub(crate) fn verify_evm_payment(
    terms: &PaymentTerms,
    evm: &EvmTerms,
    authorization: &TransferAuthorization,
    signature: &[u8],
    now: Timestamp,
) -> Result<WalletVerdict<VerifiedPayment>, PaymentRefusal> {
    check_parties(evm, authorization)?;
    let amount = parse_amount(terms, authorization)?;
    check_window(authorization, now)?;
    let signed = check_signature(authorization.signing_digest(evm), authorization.from, signature)
        .ok_or(EvmFault::Signature)?;
    let verified = |signature: PayerSignature| VerifiedPayment {
        id: PaymentId::of_authorization(evm.network(), evm.asset, authorization),
        network: evm.network(),
        payer: WalletAddress::Evm(authorization.from),
        amount,
        settlement: SettlementData::Evm(EvmPayment {
            authorization: authorization.clone(),
            signature,
        }),
    };
    match signed {
        // The token accepts no other form, so such a payment could not be settled.
        SignatureCheck::ByKey(signature) if signature.form != SignatureForm::Canonical => {
            Err(EvmFault::Signature.into())
        }
        SignatureCheck::ByKey(signature) => {
            Ok(WalletVerdict::Verified(verified(PayerSignature::ByKey(signature))))
        }
        SignatureCheck::NeedsContractCheck(check) => {
            let payment = verified(PayerSignature::ByContract(check.signature.clone()));
            Ok(WalletVerdict::NeedsContractCheck(PendingContractCheck::new(check, payment)))
        }
    }
}

fn check_parties(evm: &EvmTerms, authorization: &TransferAuthorization) -> Result<(), EvmFault> {
    if authorization.to != evm.pay_to {
        return Err(EvmFault::Recipient);
    }
    let is_nobody = authorization.from == EvmAddress::from_bytes([0; 20]);
    // A payment from our own recipient address brings in nothing.
    let is_ourselves = authorization.from == evm.pay_to;
    if is_nobody || is_ourselves {
        return Err(EvmFault::Payer);
    }
    Ok(())
}

fn parse_amount(
    terms: &PaymentTerms,
    authorization: &TransferAuthorization,
) -> Result<TokenAmount, EvmFault> {
    let too_high = AmountFault::TooHigh { maximum: terms.maximum };
    let amount = TokenAmount::from_word(authorization.value).ok_or(EvmFault::Amount(too_high))?;
    terms.check_amount(amount).map_err(EvmFault::Amount)?;
    Ok(amount)
}

fn check_window(authorization: &TransferAuthorization, now: Timestamp) -> Result<(), EvmFault> {
    let now_s = U256::from(u64::try_from(now.seconds()).unwrap_or(0));
    if now_s < authorization.valid_after {
        return Err(EvmFault::NotYetValid);
    }
    if authorization.valid_before < now_s + U256::from(SETTLE_MARGIN_S) {
        return Err(EvmFault::Expired);
    }
    Ok(())
}
