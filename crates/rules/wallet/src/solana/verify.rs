//! The rules of a payment on Solana.

use ed25519_dalek::{Signature, VerifyingKey};

use super::fault::SolanaFault;
use super::instructions::{TokenTransfer, parse_transfer};
use super::programs::token_account;
use super::transaction::{SolanaInstruction, SolanaTransaction};
use crate::address::{SolanaAddress, WalletAddress};
use crate::amount::TokenAmount;
use crate::payment::{SettlementData, VerifiedPayment};
use crate::payment_id::PaymentId;
use crate::terms::{AmountFault, PaymentTerms, SolanaTerms};

/// The fee payer has not signed when the payment arrives.
const EMPTY_SIGNATURE: [u8; 64] = [0; 64];

/// In lamports per signature; a payment has two.
const SIGNATURE_FEE: u64 = 5_000;

/// A transaction that meets the terms and lacks only the fee payer's signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SolanaPayment {
    transaction: SolanaTransaction,
    fee_max: u64,
}

impl SolanaPayment {
    /// The bytes for the fee payer to sign.
    pub fn message(&self) -> &[u8] {
        self.transaction.message_bytes()
    }

    /// The maximum cost for the fee payer, in lamports.
    pub fn fee_max(&self) -> u64 {
        self.fee_max
    }

    /// The blockhash of the transaction, which can be sent until the blockhash expires.
    pub fn recent_blockhash(&self) -> [u8; 32] {
        self.transaction.recent_blockhash()
    }

    /// The transaction to send, once the fee payer has signed [`SolanaPayment::message`]. That
    /// signature, in base58, is also the transaction's id.
    pub fn cosign(&self, fee_payer_signature: &[u8; 64]) -> Vec<u8> {
        self.transaction.with_fee_payer_signature(fee_payer_signature)
    }
}

pub(crate) fn verify_solana_payment(
    terms: &PaymentTerms,
    solana: &SolanaTerms,
    bytes: &[u8],
) -> Result<VerifiedPayment, SolanaFault> {
    let transaction = SolanaTransaction::parse(bytes)?;
    check_fee_payer(solana, &transaction)?;
    let instructions = transaction.resolve_instructions().ok_or(SolanaFault::Unreadable)?;
    check_isolation(solana.fee_payer, &instructions)?;
    let transfer = parse_transfer(&instructions)?;
    check_transfer(solana, &transfer)?;
    let amount = parse_amount(terms, &transfer)?;
    check_payer(&transaction, transfer.authority)?;
    let fee_max = 2 * SIGNATURE_FEE + transfer.priority_fee;
    Ok(VerifiedPayment {
        id: PaymentId::of_message(solana.network(), transaction.message_bytes()),
        network: solana.network(),
        payer: WalletAddress::Solana(transfer.authority),
        amount,
        settlement: SettlementData::Solana(SolanaPayment { transaction, fee_max }),
    })
}

/// Checks the signers: two, with the fee payer first and its signature empty.
fn check_fee_payer(
    solana: &SolanaTerms,
    transaction: &SolanaTransaction,
) -> Result<(), SolanaFault> {
    let [fee_payer_signature, _] = transaction.signatures() else {
        return Err(SolanaFault::Signers);
    };
    let is_ours = transaction.account_key(0) == Some(solana.fee_payer);
    if !is_ours || *fee_payer_signature != EMPTY_SIGNATURE {
        return Err(SolanaFault::FeePayer);
    }
    Ok(())
}

/// Checks that no instruction uses the fee payer's account: its signature covers the whole
/// transaction, so it would authorise the use.
fn check_isolation(
    fee_payer: SolanaAddress,
    instructions: &[SolanaInstruction<'_>],
) -> Result<(), SolanaFault> {
    let involves =
        |it: &SolanaInstruction<'_>| it.program == fee_payer || it.accounts.contains(&fee_payer);
    if instructions.iter().any(involves) {
        return Err(SolanaFault::FeePayerInvolved);
    }
    Ok(())
}

fn check_transfer(solana: &SolanaTerms, transfer: &TokenTransfer) -> Result<(), SolanaFault> {
    if transfer.mint != solana.mint {
        return Err(SolanaFault::Mint);
    }
    let ours = token_account(solana.pay_to, transfer.token_program, solana.mint);
    if Some(transfer.destination) != ours {
        return Err(SolanaFault::Recipient);
    }
    // A payment from ourselves brings in nothing.
    let is_circular =
        transfer.source == transfer.destination || transfer.authority == solana.pay_to;
    if is_circular {
        return Err(SolanaFault::Payer);
    }
    let fee_payers = token_account(solana.fee_payer, transfer.token_program, solana.mint);
    if Some(transfer.source) == fee_payers {
        return Err(SolanaFault::FeePayerInvolved);
    }
    Ok(())
}

fn parse_amount(
    terms: &PaymentTerms,
    transfer: &TokenTransfer,
) -> Result<TokenAmount, SolanaFault> {
    let too_high = AmountFault::TooHigh { maximum: terms.maximum };
    let amount = TokenAmount::from_units(transfer.units).ok_or(SolanaFault::Amount(too_high))?;
    terms.check_amount(amount).map_err(SolanaFault::Amount)?;
    Ok(amount)
}

/// Checks that the other signer owns the tokens. The node that simulates the transaction does not
/// check signatures, so this does.
fn check_payer(
    transaction: &SolanaTransaction,
    authority: SolanaAddress,
) -> Result<(), SolanaFault> {
    let [_, signature] = transaction.signatures() else {
        return Err(SolanaFault::Signers);
    };
    if transaction.account_key(1) != Some(authority) {
        return Err(SolanaFault::Signers);
    }
    let is_signed = is_signed_by(authority, transaction.message_bytes(), signature);
    if is_signed { Ok(()) } else { Err(SolanaFault::Signature) }
}

/// Verifies a signature strictly: keys of small order, which anyone can sign for, are refused.
pub(crate) fn is_signed_by(signer: SolanaAddress, message: &[u8], signature: &[u8; 64]) -> bool {
    let Ok(key) = VerifyingKey::from_bytes(&signer.bytes()) else {
        return false;
    };
    key.verify_strict(message, &Signature::from_bytes(signature)).is_ok()
}
