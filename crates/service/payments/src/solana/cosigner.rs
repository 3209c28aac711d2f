//! The fee payer: our own key, which signs a payer's transaction and pays for it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer, SigningKey};
use serde_json::{Value, json};
use store::claim::{PaymentClaim, SentPayment};
use wallet::solana::{SolanaPayment, base58_signature};
use wallet::{SettlementData, SolanaAddress};

use super::chain::{NEWEST, SolanaChain, decline_expired, refuse_unclear};
use crate::fee_budget::FeeBudget;
use crate::node::CallError;
use crate::settler::{
    ChainSighting, PaymentDecline, PaymentPreparation, PreparedPayment, SettleFailure,
    SettlementOrder,
};

/// Times that the node rebroadcasts a transaction by itself; we send it again too.
const RETRIES: u32 = 3;

pub(crate) struct SolanaCosigner {
    pub(crate) chain: SolanaChain,
    key: SigningKey,
    spending: FeeBudget,
}

impl SolanaCosigner {
    /// `fees_max_per_hour` is in lamports.
    pub(crate) fn new(
        chain: SolanaChain,
        key: SigningKey,
        fees_max_per_hour: u64,
    ) -> SolanaCosigner {
        let spending = FeeBudget::new("solana_fees_max_per_hour", fees_max_per_hour.into());
        SolanaCosigner { chain, key, spending }
    }

    pub(crate) fn address(&self) -> SolanaAddress {
        SolanaAddress::from_bytes(self.key.verifying_key().to_bytes())
    }

    pub(crate) async fn prepare(
        &self,
        order: &SettlementOrder,
    ) -> Result<PaymentPreparation, SettleFailure> {
        let SettlementData::Solana(payment) = &order.verified.settlement else {
            return Err(SettleFailure::unable("the payment is not on Solana"));
        };
        if !self.chain.is_recent(payment.recent_blockhash()).await? {
            return Err(decline_expired().into());
        }
        let mut sent = self.cosign(payment);
        sent.since_block = Some(self.chain.height(NEWEST).await?);
        let raw = sent.raw.as_deref().unwrap_or_default();
        self.simulate(raw).await?;
        self.spending.reserve_fee(payment.fee_max().into())?;
        Ok(PaymentPreparation::Ready(PreparedPayment { sent, turn: None }))
    }

    pub(crate) async fn send(&self, claim: &PaymentClaim) -> Result<ChainSighting, SettleFailure> {
        let Some(raw) = &claim.sent.raw else {
            return Ok(ChainSighting::Waiting { transaction: None });
        };
        // It was simulated before; a preflight on a lagging node would only reject it wrongly.
        let options = json!({ "encoding": "base64", "skipPreflight": true, "maxRetries": RETRIES });
        let params = json!([STANDARD.encode(raw), options]);
        match self.chain.node.call("sendTransaction", params).await {
            Ok(_) => Ok(ChainSighting::Waiting { transaction: None }),
            Err(error @ CallError::Unreached { .. }) => {
                Ok(ChainSighting::Unsent(error.to_string()))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Signs the payment. The same payment always gets the same signature, and so the same
    /// transaction id.
    fn cosign(&self, payment: &SolanaPayment) -> SentPayment {
        let signature = self.key.sign(payment.message()).to_bytes();
        SentPayment {
            transaction: Some(base58_signature(&signature)),
            raw: Some(payment.cosign(&signature)),
            sequence: None,
            since_block: None,
            replaced: Vec::new(),
        }
    }

    async fn simulate(&self, raw: &[u8]) -> Result<(), SettleFailure> {
        let options = json!({
            "encoding": "base64",
            "sigVerify": true,
            "commitment": self.chain.commitment.name(),
        });
        let params = json!([STANDARD.encode(raw), options]);
        let simulated = self.chain.node.call("simulateTransaction", params).await?;
        let outcome = &simulated["value"];
        if outcome.is_null() {
            return Err(refuse_unclear("a simulation"));
        }
        check_simulation(&outcome["err"], &outcome["logs"])
    }
}

/// Interprets the result of a simulation by the node's error and logs.
fn check_simulation(error: &Value, logs: &Value) -> Result<(), SettleFailure> {
    if error.is_null() {
        return Ok(());
    }
    let (error, logs) = (error.to_string(), logs.to_string().to_lowercase());
    // It is on the chain already; the lookup will show its result.
    if error.contains("AlreadyProcessed") {
        return Ok(());
    }
    if error.contains("BlockhashNotFound") {
        return Err(decline_expired().into());
    }
    // A transfer reports missing tokens in its log; missing coins are the fee payer's.
    let is_fee = error.contains("InsufficientFundsForFee")
        || error.contains("InsufficientFundsForRent")
        || (error.contains("AccountNotFound") && !logs.contains("program"));
    if is_fee {
        return Err(SettleFailure::unable("the fee payer has no funds for fees"));
    }
    if logs.contains("insufficient funds") {
        let words = "The payer has less of the token than the transaction moves";
        return Err(PaymentDecline::new("insufficient_funds", words).into());
    }
    let words = "The transaction would fail: check the payer's token account and sign a new one";
    Err(PaymentDecline::new("invalid_exact_svm_transaction_simulation_failed", words).into())
}
