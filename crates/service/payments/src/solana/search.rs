//! Finds a payment's transaction when its signature is unknown, because another key paid the fee.

use serde_json::json;
use store::claim::PaymentClaim;
use wallet::solana::{PayerFingerprint, base58_signature};

use super::chain::{SolanaChain, refuse_unclear};
use crate::settler::SettleFailure;

/// Number of the payer's last transactions that are searched. A payment is valid for a minute, so
/// more than a few in that time would be unusual.
const LAST_TRANSACTIONS: usize = 25;

impl SolanaChain {
    /// The transaction that carries the payer's signature, if the chain has it.
    pub(super) async fn find_by_signature(
        &self,
        claim: &PaymentClaim,
        mark: &PayerFingerprint,
    ) -> Result<Option<String>, SettleFailure> {
        let options = json!({ "limit": LAST_TRANSACTIONS, "commitment": self.commitment.name() });
        let listed = self.node.call("getSignaturesForAddress", json!([claim.payer, options]));
        let listed = listed.await?;
        let payers = base58_signature(&mark.signature);
        for entry in listed.as_array().ok_or_else(|| refuse_unclear("a list of transactions"))? {
            let Some(name) = entry["signature"].as_str() else { continue };
            let transaction = self.transaction(name).await?;
            let signatures = transaction["transaction"]["signatures"].as_array();
            let carries = signatures
                .is_some_and(|all| all.iter().any(|it| it.as_str() == Some(payers.as_str())));
            if carries {
                return Ok(Some(name.to_owned()));
            }
        }
        Ok(None)
    }
}
