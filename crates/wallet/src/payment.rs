//! Verifies a payment against the operator's terms, before anything is settled.

use moment::Timestamp;
use sha2::{Digest, Sha256};

use crate::address::WalletAddress;
use crate::amount::TokenAmount;
use crate::evm::{self, EvmPayment};
use crate::network::Network;
use crate::payload::{Chosen, Payment, Proof};
use crate::payment_id::PaymentId;
use crate::refusal::PaymentRefusal;
use crate::solana::{self, SolanaPayment};
use crate::terms::PaymentTerms;
use crate::verdict::{Unconfirmed, Verdict};

/// A payment that meets the terms and is signed by its payer. Only the chain knows if the payer has
/// the money.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedPayment {
    pub id: PaymentId,
    pub network: Network,
    pub payer: WalletAddress,
    /// The amount that will move, and may be credited.
    pub amount: TokenAmount,
    pub settlement: Settlement,
}

impl VerifiedPayment {
    /// The value that the chain accepts once for this payer: the authorization's nonce, or the hash
    /// of the message.
    pub fn nonce(&self) -> [u8; 32] {
        match &self.settlement {
            Settlement::Evm(payment) => payment.authorization.nonce,
            Settlement::Solana(payment) => Sha256::digest(payment.message()).into(),
        }
    }
}

/// The chain-specific data for settling a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settlement {
    Evm(EvmPayment),
    Solana(SolanaPayment),
}

impl Unconfirmed<VerifiedPayment> {
    /// The refusal if there is no contract, or if it rejects the signature.
    pub fn denied(&self) -> PaymentRefusal {
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
    payment: &Payment,
    now: Timestamp,
) -> Result<Verdict<VerifiedPayment>, PaymentRefusal> {
    let requirement =
        terms.requirement(payment.network, terms.minimum).ok_or(PaymentRefusal::Network)?;
    check_choice(&payment.chosen, &requirement.asset, &requirement.pay_to)?;
    match (&payment.proof, &terms.evm, &terms.solana) {
        (Proof::Evm { authorization, signature }, Some(evm), _) => {
            evm::verify(terms, evm, authorization, signature, now)
        }
        (Proof::Solana { transaction }, _, Some(solana)) => {
            let verified = solana::verify(terms, solana, transaction)?;
            Ok(Verdict::Verified(verified))
        }
        _ => Err(PaymentRefusal::Network),
    }
}

/// Checks the token and recipient that the client chose. If they differ from our offer, the client
/// has signed something else, and this error is clearer than the signature mismatch that would
/// follow.
fn check_choice(chosen: &Chosen, asset: &str, pay_to: &str) -> Result<(), PaymentRefusal> {
    if !names(chosen.asset.as_deref(), asset) {
        return Err(PaymentRefusal::Token);
    }
    if !names(chosen.pay_to.as_deref(), pay_to) {
        return Err(PaymentRefusal::Recipient);
    }
    Ok(())
}

/// True if `name` is missing or means this address. Case is ignored on EVM chains.
fn names(name: Option<&str>, address: &str) -> bool {
    let Some(name) = name else {
        return true;
    };
    WalletAddress::parse(name) == WalletAddress::parse(address)
}
