//! The state of an authorization on its chain, by whichever account it was sent.

use alloy_primitives::U256;
use store::claim::PaymentClaim;
use wallet::evm::{TransactionReceipt, TransferAuthorization};
use wallet::{EvmAddress, EvmTerms};

use super::chain::{ChainHead, EvmChain, authorization_of};
use super::quantity::encode_quantity;
use super::relayer::LOOK_BACK_BLOCKS;
use crate::settler::{ChainSighting, ConfirmedTransfer, PaymentDecline, SettleFailure};

/// Time and blocks by which nodes behind one address may lag behind each other.
const LAG_S: u64 = 60;
const LAG_BLOCKS: u64 = 10;

impl EvmChain {
    /// The state of a claim on its chain. `sender` is the account whose transaction the claim
    /// holds. An error if other nodes do not show the payment yet.
    pub(crate) async fn look_up(
        &self,
        claim: &PaymentClaim,
        sender: Option<EvmAddress>,
    ) -> Result<ChainSighting, SettleFailure> {
        let sighting = self.look_up_here(claim, sender).await?;
        if let ChainSighting::Moved(moved) = &sighting {
            let (terms, authorization) = authorization_of(claim)?;
            self.confirm_with_others(moved, &terms, &authorization).await?;
        }
        Ok(sighting)
    }

    /// Checks that all other nodes show the payment too.
    pub(super) async fn confirm_with_others(
        &self,
        moved: &ConfirmedTransfer,
        terms: &EvmTerms,
        authorization: &TransferAuthorization,
    ) -> Result<(), SettleFailure> {
        for other in &self.others {
            let head = other.head().await?;
            let receipt = other.receipt(&moved.transaction).await?;
            let is_shown = receipt.is_some_and(|receipt| {
                receipt.moved_amount(terms, authorization) == Some(moved.amount)
                    && other.is_deep(receipt.block_number, head)
            });
            if !is_shown {
                let transaction = &moved.transaction;
                tracing::warn!(
                    tx.hash = transaction,
                    "one node shows the payment {transaction} and another does not"
                );
                return Err(SettleFailure::unable(
                    "the nodes of the chain do not agree on a payment",
                ));
            }
        }
        Ok(())
    }

    /// The state of a claim according to this node.
    ///
    /// The order of the queries matters: those that would rule the payment out come before those
    /// that would show it, so that a block in between cannot make a payment look lost.
    async fn look_up_here(
        &self,
        claim: &PaymentClaim,
        sender: Option<EvmAddress>,
    ) -> Result<ChainSighting, SettleFailure> {
        let (terms, authorization) = authorization_of(claim)?;
        let head = self.head().await?;
        let is_replaced = self.is_replaced(claim, sender, head).await?;
        let ours = self.find_mined(claim).await?;
        if let Some((transaction, receipt)) = &ours
            && let Some(amount) = receipt.moved_amount(&terms, &authorization)
        {
            let moved = ConfirmedTransfer { amount, transaction: transaction.clone() };
            return Ok(self.once_deep(receipt.block_number, head, ChainSighting::Moved(moved)));
        }
        let is_used = self.is_used(&terms, &authorization).await?;
        // The token existed when the claim was opened: a node that does not show it cannot be
        // relied on.
        let is_used =
            is_used.ok_or_else(|| SettleFailure::unable("the node does not show the token"))?;
        if is_used {
            let lately = head.number.saturating_sub(LOOK_BACK_BLOCKS);
            let since_block = claim.sent.since_block.unwrap_or(lately);
            let found = self.find_use(&terms, &authorization, since_block, head).await?;
            return Ok(found.unwrap_or_else(report_waiting));
        }
        if let Some((_, receipt)) = ours {
            // It was mined and reverted, and cannot be mined again.
            return Ok(self.once_deep(
                receipt.block_number,
                head,
                ChainSighting::Never(decline_reverted()),
            ));
        }
        if has_expired(&authorization, head) {
            return Ok(ChainSighting::Never(decline_expired()));
        }
        if is_replaced {
            let cause = "another transaction of the relayer has its nonce";
            return Ok(ChainSighting::Unsent(cause.to_owned()));
        }
        Ok(report_waiting())
    }

    /// The mined transaction of a claim, if any: the last one sent, or one that it should have
    /// replaced.
    async fn find_mined(
        &self,
        claim: &PaymentClaim,
    ) -> Result<Option<(String, TransactionReceipt)>, SettleFailure> {
        for transaction in claim.sent.transactions() {
            if let Some(receipt) = self.receipt(transaction).await? {
                return Ok(Some((transaction.clone(), receipt)));
            }
        }
        Ok(None)
    }

    /// The state of an authorization that was used or cancelled; None if no receipt shows it yet.
    pub(super) async fn find_use(
        &self,
        terms: &EvmTerms,
        authorization: &TransferAuthorization,
        since_block: u64,
        head: ChainHead,
    ) -> Result<Option<ChainSighting>, SettleFailure> {
        let mut found = None;
        for ending in self.find_authorization_events(terms, authorization, since_block).await? {
            let Some(receipt) = self.receipt(&ending.transaction).await? else { continue };
            if !self.is_deep(ending.block, head) {
                return Ok(Some(ChainSighting::Waiting { transaction: Some(ending.transaction) }));
            }
            found = Some(match receipt.moved_amount(terms, authorization) {
                Some(amount) => ChainSighting::Moved(ConfirmedTransfer {
                    amount,
                    transaction: ending.transaction,
                }),
                None => ChainSighting::Never(decline_used()),
            });
        }
        Ok(found)
    }

    /// True if the claim's nonce was used by another transaction of the relayer, well below the
    /// newest block.
    async fn is_replaced(
        &self,
        claim: &PaymentClaim,
        sender: Option<EvmAddress>,
        head: ChainHead,
    ) -> Result<bool, SettleFailure> {
        let (Some(sender), Some(sequence)) = (sender, claim.sent.sequence) else {
            return Ok(false);
        };
        let Some(depth) = head.number.checked_sub(self.confirmations + LAG_BLOCKS) else {
            return Ok(false);
        };
        Ok(sequence < self.transaction_count(sender, &encode_quantity(depth.into())).await?)
    }

    fn once_deep(&self, block: u64, head: ChainHead, sighting: ChainSighting) -> ChainSighting {
        if self.is_deep(block, head) { sighting } else { report_waiting() }
    }
}

/// True if no later block can use the authorization, even if the node lags by `LAG_S`.
fn has_expired(authorization: &TransferAuthorization, head: ChainHead) -> bool {
    authorization.valid_before <= U256::from(head.timestamp_s.saturating_sub(LAG_S))
}

fn report_waiting() -> ChainSighting {
    ChainSighting::Waiting { transaction: None }
}

pub(super) fn decline_used() -> PaymentDecline {
    PaymentDecline::new(
        "invalid_exact_evm_nonce_already_used",
        "The authorization was used otherwise or cancelled, and paid nothing: sign a new one",
    )
}

fn decline_reverted() -> PaymentDecline {
    PaymentDecline::new(
        "invalid_exact_evm_transaction_failed",
        "The token refused the transfer when it was carried out, and nothing moved: look at the \
         payer's balance and sign a new payment",
    )
}

fn decline_expired() -> PaymentDecline {
    PaymentDecline::new(
        "invalid_exact_evm_payload_authorization_valid_before",
        "The authorization expired before it was mined, and no money moved: sign a new one",
    )
}
