//! Transactions of the relayer that are not mined: replaced with a higher fee, or cancelled.

use alloy_primitives::{Address, hex, keccak256};
use serde_json::json;
use store::claim::{PaymentClaim, SentPayment};
use tokio::time::Instant;

use super::fees::GasFees;
use super::relayer::EvmRelayer;
use super::transaction::ContractCall;
use crate::node::CallError;
use crate::settler::SettleFailure;

/// Replacements per claim. Each costs a query whenever the payment is looked up. Sixteen steps of
/// an eighth are more than six times the first price.
const REPLACEMENTS_MAX: usize = 16;
/// Gas of an empty transaction.
const GAS_OF_EMPTY_TRANSACTION: u64 = 21_000;

/// A nonce of the relayer that payments wait behind and that belongs to no unfinished claim.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockedNonce {
    sequence: u64,
    since: Instant,
    /// The last fees that were offered to fill the nonce, without success.
    offered: Option<GasFees>,
}

impl EvmRelayer {
    /// The same call with the same nonce and higher fees; None if a higher fee would not help.
    pub(crate) async fn build_replacement(
        &self,
        claim: &PaymentClaim,
    ) -> Result<Option<SentPayment>, SettleFailure> {
        let (Some(raw), Some(sequence)) = (&claim.sent.raw, claim.sent.sequence) else {
            return Ok(None);
        };
        // A transaction that waits for an earlier nonce does not need a higher fee.
        let is_next = self.chain.transaction_count(self.address, "latest").await? == sequence;
        let Some(before) = self.decode_own(raw).filter(|_| is_next) else { return Ok(None) };
        let mut replaced = claim.sent.replaced.clone();
        if REPLACEMENTS_MAX <= replaced.len() {
            return Err(SettleFailure::Unable(format!(
                "the relayer's transaction {sequence} was replaced {REPLACEMENTS_MAX} times and is \
                 not mined"
            )));
        }
        let market = self.market(self.chain.head().await?).await?;
        let fees = before.fees.raise(market, self.gas_price_max).ok_or_else(|| {
            SettleFailure::Unable(format!(
                "the relayer's transaction {sequence} is not mined, and `gas_price_max_gwei` does \
                 not allow to offer more for it"
            ))
        })?;
        let call = ContractCall { fees, ..before };
        self.check_funds(&call).await?;
        let signed = self.sign(&call)?;
        replaced.push(hex::encode_prefixed(keccak256(raw)));
        Ok(Some(SentPayment {
            transaction: Some(hex::encode_prefixed(signed.hash)),
            raw: Some(signed.raw),
            replaced,
            ..claim.sent.clone()
        }))
    }

    /// Fills the nonce that payments wait behind, if it belongs to none of them: its claim was
    /// settled otherwise or expired, and its transaction is not mined or was dropped. An empty
    /// transaction takes its place. If the nonce belongs to a credited payment that the chain has
    /// reorganised away, that payment is sent instead.
    pub(crate) async fn clear_blocked_nonce(
        &self,
        unfinished: &[PaymentClaim],
        credited: &[PaymentClaim],
    ) -> Result<(), SettleFailure> {
        let sequences: Vec<u64> = unfinished.iter().filter_map(|it| self.own_nonce(it)).collect();
        let next = self.chain.transaction_count(self.address, "latest").await?;
        let is_held_up = sequences.iter().any(|sequence| next < *sequence);
        if !is_held_up || sequences.contains(&next) {
            self.note_blockage(None);
            return Ok(());
        }
        // The cheap check first: there may be a thousand claims, and checking whose a transaction
        // is takes a signature.
        let mut next_ones = credited.iter().filter(|claim| claim.sent.sequence == Some(next));
        let is_taken_back =
            |it: &&PaymentClaim| is_credited_by_us(it) && self.own_nonce(it).is_some();
        if let Some(taken_back) = next_ones.find(is_taken_back) {
            self.send(taken_back).await?;
            return Ok(());
        }
        let blockage = match self.blockage() {
            Some(blockage) if blockage.sequence == next => blockage,
            _ => BlockedNonce { sequence: next, since: Instant::now(), offered: None },
        };
        self.note_blockage(Some(blockage));
        if blockage.since.elapsed() < self.replace_after {
            return Ok(());
        }
        let offered = self.send_empty_transaction(&blockage).await?;
        self.note_blockage(Some(BlockedNonce { offered: Some(offered), ..blockage }));
        Ok(())
    }

    fn own_nonce(&self, claim: &PaymentClaim) -> Option<u64> {
        self.decode_own(claim.sent.raw.as_deref()?).map(|call| call.sequence)
    }

    /// Decodes a transaction that this relayer signed; None for others, which may still be awaited
    /// after a change of keys.
    fn decode_own(&self, raw: &[u8]) -> Option<ContractCall> {
        let call = ContractCall::read(raw)?;
        let is_own = self.sign(&call).is_ok_and(|signed| signed.raw == raw);
        is_own.then_some(call)
    }

    async fn send_empty_transaction(
        &self,
        blockage: &BlockedNonce,
    ) -> Result<GasFees, SettleFailure> {
        let (sequence, most) = (blockage.sequence, self.gas_price_max);
        let market = self.market(self.chain.head().await?).await?;
        let fees = match blockage.offered {
            Some(offered) => offered.raise(market, most),
            None => GasFees::initial(market, most).and_then(|fees| fees.raise(market, most)),
        };
        let fees = fees.ok_or_else(|| {
            SettleFailure::Unable(format!(
                "the relayer's transaction {sequence} holds all payments up, and \
                 `gas_price_max_gwei` does not allow to offer more than it does"
            ))
        })?;
        let call = ContractCall {
            chain_id: self.chain_id,
            sequence,
            fees,
            gas_max: GAS_OF_EMPTY_TRANSACTION,
            to: Address::from(self.address.bytes()),
            input: Vec::new(),
        };
        self.check_funds(&call).await?;
        let params = json!([hex::encode_prefixed(self.sign(&call)?.raw)]);
        match self.chain.node.call("eth_sendRawTransaction", params).await {
            Ok(_) => tracing::warn!(
                sequence,
                "payments waited behind the relayer's transaction {sequence}, which is of no use any \
                 more: one that does nothing was sent in its place"
            ),
            // The transaction in its place offers more; the next offer is higher.
            Err(CallError::Refused { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(fees)
    }
}

/// True if a transaction of ours moved the money, and not one of another sender.
fn is_credited_by_us(claim: &PaymentClaim) -> bool {
    let SentPayment { transaction: Some(transaction), raw: Some(raw), replaced, .. } = &claim.sent
    else {
        return false;
    };
    *transaction == hex::encode_prefixed(keccak256(raw)) || replaced.contains(transaction)
}
