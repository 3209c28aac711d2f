//! Verifies a payment against the operator's terms, before anything is settled.

use moment::Timestamp;
use sha2::{Digest, Sha256};

use crate::address::WalletAddress;
use crate::amount::TokenAmount;
use crate::evm::{self, EvmPayment};
use crate::network::ChainNetwork;
use crate::payload::{ClaimedTerms, PaymentProof, UnverifiedPayment};
use crate::payment_id::PaymentId;
use crate::refusal::PaymentRefusal;
use crate::solana::{self, SolanaPayment};
use crate::terms::PaymentTerms;
use crate::verdict::{PendingContractCheck, WalletVerdict};

/// A payment that meets the terms and is signed by its payer. Only the chain knows if the payer has
/// the money.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedPayment {
    pub id: PaymentId,
    pub network: ChainNetwork,
    pub payer: WalletAddress,
    /// The amount that will move, and may be credited.
    pub amount: TokenAmount,
    pub settlement: SettlementData,
}

impl VerifiedPayment {
    /// The value that the chain accepts once for this payer: the authorization's nonce, or the hash
    /// of the message.
    pub fn nonce(&self) -> [u8; 32] {
        match &self.settlement {
            SettlementData::Evm(payment) => payment.authorization.nonce,
            SettlementData::Solana(payment) => Sha256::digest(payment.message()).into(),
        }
    }
}

/// The chain-specific data for settling a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettlementData {
    Evm(EvmPayment),
    Solana(SolanaPayment),
}

impl PendingContractCheck<VerifiedPayment> {
    /// The refusal if there is no contract, or if it rejects the signature.
    pub fn to_refusal(&self) -> PaymentRefusal {
        let is_undeployed = self.check.deployment.is_some();
        PaymentRefusal::Evm(if is_undeployed {
            evm::EvmFault::UndeployedWallet
        } else {
            evm::EvmFault::Signature
        })
    }
}

/// Verifies a payment. The checks are in the order in which a client would fix them.
pub fn verify_payment(
    terms: &PaymentTerms,
    payment: &UnverifiedPayment,
    now: Timestamp,
) -> Result<WalletVerdict<VerifiedPayment>, PaymentRefusal> {
    let requirement =
        terms.build_requirement(payment.network, terms.minimum).ok_or(PaymentRefusal::Network)?;
    check_choice(&payment.chosen, &requirement.asset, &requirement.pay_to)?;
    match (&payment.proof, &terms.evm, &terms.solana) {
        (PaymentProof::Evm { authorization, signature }, Some(evm), _) => {
            evm::verify_evm_payment(terms, evm, authorization, signature, now)
        }
        (PaymentProof::Solana { transaction }, _, Some(solana)) => {
            let verified = solana::verify_solana_payment(terms, solana, transaction)?;
            Ok(WalletVerdict::Verified(verified))
        }
        _ => Err(PaymentRefusal::Network),
    }
}

/// Checks the token and recipient that the client chose. If they differ from our offer, the client
/// has signed something else, and this error is clearer than the signature mismatch that would
/// follow.
fn check_choice(chosen: &ClaimedTerms, asset: &str, pay_to: &str) -> Result<(), PaymentRefusal> {
    if !is_same_address(chosen.asset.as_deref(), asset) {
        return Err(PaymentRefusal::Token);
    }
    if !is_same_address(chosen.pay_to.as_deref(), pay_to) {
        return Err(PaymentRefusal::Recipient);
    }
    Ok(())
}

/// True if `name` is missing or means this address. Case is ignored on EVM chains.
fn is_same_address(name: Option<&str>, address: &str) -> bool {
    let Some(name) = name else {
        return true;
    };
    WalletAddress::parse(name) == WalletAddress::parse(address)
}
