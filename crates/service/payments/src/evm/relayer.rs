//! The relayer: our own key, which pays the gas for moving a payer's tokens.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use alloy_primitives::{Address, U256, hex};
use k256::ecdsa::SigningKey;
use serde_json::json;
use store::claim::{PaymentClaim, SentPayment};
use tokio::time::Instant;
use wallet::evm::EvmPayment;
use wallet::{EvmAddress, EvmTerms, SettlementData};

use super::chain::{ChainHead, EvmChain};
use super::fees::{GasFees, GasMarket};
use super::lookup::decline_used;
use super::quantity::{decode_number, decode_u64};
use super::stuck_transactions::BlockedNonce;
use super::transaction::{ContractCall, SignedTransaction};
use crate::direct::EvmSetup;
use crate::fee_budget::FeeBudget;
use crate::node::CallError;
use crate::settler::{
    ChainSighting, PaymentDecline, PaymentPreparation, PreparedPayment, SendSlot, SettleFailure,
    SettlementOrder,
};

/// Largest gas limit. USDC's transfer takes about 80,000, and a contract wallet's signature adds to
/// it. A higher estimate would be a contract that wastes the relayer's money.
const GAS_MAX: u64 = 400_000;
/// Number of recent blocks searched for a use of an authorization that we did not send: about an
/// hour on Base, and within what nodes return in one request.
pub(super) const LOOK_BACK_BLOCKS: u64 = 2_000;
/// Time for which the last nonce is remembered: nodes behind one address learn of a transaction at
/// different times.
const NONCE_CACHE_LIFETIME: Duration = Duration::from_secs(30);

/// Sends payments to the token contract from our own account.
pub(crate) struct EvmRelayer {
    pub(crate) chain: EvmChain,
    pub(crate) address: EvmAddress,
    pub(super) chain_id: u64,
    key: SigningKey,
    /// The maximum price per unit of gas, in the chain's smallest unit.
    pub(super) gas_price_max: u128,
    /// Time that a transaction may wait to be mined before its fee is raised.
    pub(super) replace_after: Duration,
    spending: FeeBudget,
    /// Held while a transaction is numbered and sent, so that no nonce is skipped.
    turns: Arc<tokio::sync::Mutex<()>>,
    /// Nonce and time of the last transaction. A `std::sync::Mutex`: held briefly and never across
    /// an await.
    last_sent: Mutex<Option<(u64, Instant)>>,
    /// The nonce that blocks later payments, if any; also a `std::sync::Mutex`. A restart forgets
    /// it, which only delays clearing it.
    blockage: Mutex<Option<BlockedNonce>>,
}

impl EvmRelayer {
    /// The key is 32 bytes in hexadecimal, with or without `0x`.
    pub(crate) fn new(setup: &EvmSetup<'_>) -> Result<EvmRelayer, String> {
        let EvmSetup { gas_price_max, replace_after, .. } = *setup;
        let chain = EvmChain::new(&setup.nodes)?;
        let wrong = || "the relayer's key must be 0x and 64 hexadecimal digits".to_owned();
        let bytes = hex::decode(setup.relayer_key.trim()).map_err(|_| wrong())?;
        let key = SigningKey::from_slice(&bytes).map_err(|_| wrong())?;
        let address = Address::from_public_key(key.verifying_key()).into();
        Ok(EvmRelayer {
            chain,
            address,
            chain_id: setup.nodes.chain_id,
            key,
            gas_price_max,
            replace_after,
            spending: FeeBudget::new("gas_max_per_hour", setup.gas_max_per_hour),
            turns: Arc::default(),
            last_sent: Mutex::default(),
            blockage: Mutex::default(),
        })
    }

    pub(crate) async fn prepare(
        &self,
        order: &SettlementOrder,
    ) -> Result<PaymentPreparation, SettleFailure> {
        let SettlementData::Evm(payment) = &order.verified.settlement else {
            return Err(SettleFailure::unable("the payment is not on an EVM chain"));
        };
        let terms = self.chain.terms(&order.requirement)?;
        let head = self.chain.head().await?;
        if let Some(found) = self.chain.check_before_send(&terms, payment, head).await? {
            return Ok(found);
        }
        let fees = GasFees::initial(self.market(head).await?, self.gas_price_max);
        let fees = fees.ok_or_else(too_dear)?;
        let turn = Arc::clone(&self.turns).lock_owned().await;
        let call = ContractCall {
            chain_id: self.chain_id,
            sequence: self.next_sequence().await?,
            fees,
            gas_max: self.estimate_gas(&terms, payment).await?,
            to: Address::from(terms.asset.bytes()),
            input: payment.calldata(),
        };
        self.check_funds(&call).await?;
        let signed = self.sign(&call)?;
        let sent = SentPayment {
            transaction: Some(hex::encode_prefixed(signed.hash)),
            raw: Some(signed.raw),
            sequence: Some(call.sequence),
            since_block: Some(head.number),
            replaced: Vec::new(),
        };
        Ok(PaymentPreparation::Ready(PreparedPayment { sent, turn: Some(SendSlot::new(turn)) }))
    }

    pub(crate) async fn send(&self, claim: &PaymentClaim) -> Result<ChainSighting, SettleFailure> {
        let Some(raw) = &claim.sent.raw else {
            return Ok(ChainSighting::Waiting { transaction: None });
        };
        let params = json!([hex::encode_prefixed(raw)]);
        let sent = self.chain.node.call("eth_sendRawTransaction", params).await;
        match sent {
            Ok(_) => {
                self.remember_nonce(claim.sent.sequence);
                Ok(ChainSighting::Waiting { transaction: None })
            }
            Err(CallError::Refused { message, .. }) if is_known(&message) => {
                Ok(ChainSighting::Waiting { transaction: None })
            }
            Err(CallError::Refused { message, .. }) if is_turned_down(&message) => {
                Ok(ChainSighting::Unsent(message))
            }
            Err(error @ CallError::Unreached { .. }) => {
                Ok(ChainSighting::Unsent(error.to_string()))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The current gas fees.
    pub(super) async fn market(&self, head: ChainHead) -> Result<GasMarket, SettleFailure> {
        let tip =
            decode_number(&self.chain.node.call("eth_maxPriorityFeePerGas", json!([])).await?)?;
        Ok(GasMarket { base_fee: head.base_fee, tip })
    }

    pub(super) fn sign(&self, call: &ContractCall) -> Result<SignedTransaction, SettleFailure> {
        let signed = call.sign(&self.key);
        signed.ok_or_else(|| SettleFailure::unable("the relayer's key cannot sign"))
    }

    /// Estimates the gas by simulating the call: a call that would fail is declined here.
    async fn estimate_gas(
        &self,
        terms: &EvmTerms,
        payment: &EvmPayment,
    ) -> Result<u64, SettleFailure> {
        let call = json!({
            "from": self.address.to_string(),
            "to": terms.asset.to_string(),
            "input": hex::encode_prefixed(payment.calldata()),
        });
        let estimated = self.chain.node.call("eth_estimateGas", json!([call])).await;
        let estimated = estimated.map_err(|error| classify_refusal(&error))?;
        let gas = decode_u64(&estimated)?;
        if GAS_MAX < gas {
            return Err(too_much_gas().into());
        }
        // A margin of a quarter: the state may change until it runs.
        Ok((gas + gas / 4).min(GAS_MAX))
    }

    /// Checks that the relayer can pay the maximum cost of a transaction, within the hourly limit.
    pub(super) async fn check_funds(&self, call: &ContractCall) -> Result<(), SettleFailure> {
        let needed = u128::from(call.gas_max).saturating_mul(call.fees.price_max);
        if self.chain.coin_balance(self.address).await? < needed {
            let address = self.address;
            return Err(SettleFailure::Unable(format!(
                "the relayer {address} has no funds for gas"
            )));
        }
        self.spending.reserve_fee(needed)
    }

    async fn next_sequence(&self) -> Result<u64, SettleFailure> {
        let pending = self.chain.transaction_count(self.address, "pending").await?;
        let remembered = *self.last_sent.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(match remembered {
            Some((last, at)) if at.elapsed() < NONCE_CACHE_LIFETIME => pending.max(last + 1),
            _ => pending,
        })
    }

    fn remember_nonce(&self, sequence: Option<u64>) {
        let mut last_sent = self.last_sent.lock().unwrap_or_else(PoisonError::into_inner);
        let last = last_sent.map(|(last, _)| last);
        if last < sequence {
            *last_sent = sequence.map(|sequence| (sequence, Instant::now()));
        }
    }

    pub(super) fn blockage(&self) -> Option<BlockedNonce> {
        *self.blockage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn note_blockage(&self, blockage: Option<BlockedNonce>) {
        *self.blockage.lock().unwrap_or_else(PoisonError::into_inner) = blockage;
    }
}

impl EvmChain {
    /// Checks the chain before anything is sent: Some if the payment was already sent, an error if
    /// it cannot succeed, None if it is to be sent.
    pub(crate) async fn check_before_send(
        &self,
        terms: &EvmTerms,
        payment: &EvmPayment,
        head: ChainHead,
    ) -> Result<Option<PaymentPreparation>, SettleFailure> {
        let authorization = &payment.authorization;
        match self.is_used(terms, authorization).await? {
            None => Err(no_token().into()),
            Some(true) => {
                let since_block = head.number.saturating_sub(LOOK_BACK_BLOCKS);
                match self.find_use(terms, authorization, since_block, head).await? {
                    Some(ChainSighting::Moved(moved)) => {
                        self.confirm_with_others(&moved, terms, authorization).await?;
                        Ok(Some(PaymentPreparation::Moved(moved)))
                    }
                    // Another account sent it just now: nothing to send, but its confirmation has
                    // to be awaited.
                    Some(ChainSighting::Waiting { transaction }) => {
                        let since_block = Some(since_block);
                        let sent =
                            SentPayment { transaction, since_block, ..SentPayment::default() };
                        Ok(Some(PaymentPreparation::Ready(PreparedPayment { sent, turn: None })))
                    }
                    _ => Err(decline_used().into()),
                }
            }
            Some(false) => {
                let has = self.token_balance(terms.asset, authorization.from).await?;
                if U256::from(has.units()) < authorization.value {
                    return Err(insufficient_funds().into());
                }
                Ok(None)
            }
        }
    }
}

/// Translates a refused call: declined if the token reverts, otherwise a setback on our side.
fn classify_refusal(error: &CallError) -> SettleFailure {
    let CallError::Refused { message, data, .. } = error else {
        return SettleFailure::unable(error);
    };
    let said = format!("{message} {data}").to_lowercase();
    let ours = ["insufficient funds for", "gas required exceeds", "max fee per gas"];
    if ours.iter().any(|words| said.contains(words)) {
        return SettleFailure::Unable(format!("the relayer cannot pay for gas: {message}"));
    }
    if !error.is_revert() {
        return SettleFailure::unable(error);
    }
    if said.contains("exceeds balance") {
        return insufficient_funds().into();
    }
    if said.contains("used or canceled") {
        return decline_used().into();
    }
    if said.contains("blacklist") {
        let words = "The token's issuer has blocked the payer: pay from another wallet";
        return PaymentDecline::new("invalid_exact_evm_transaction_simulation_failed", words)
            .into();
    }
    let words = "The token would reject the transfer: check the authorization and its signature";
    PaymentDecline::new("invalid_exact_evm_transaction_simulation_failed", words).into()
}

fn too_dear() -> SettleFailure {
    SettleFailure::unable("gas costs more than `gas_price_max_gwei` allows")
}

fn insufficient_funds() -> PaymentDecline {
    PaymentDecline::new("insufficient_funds", "The payer has less of the token than it signed for")
}

fn no_token() -> PaymentDecline {
    PaymentDecline::new("asset_not_deployed_contract", "The token is not on this chain")
}

fn too_much_gas() -> PaymentDecline {
    let words = "Checking the payer's signature takes too much gas: pay with a key";
    PaymentDecline::new("invalid_exact_evm_transaction_simulation_failed", words)
}

/// True if the node already has the transaction, which counts as accepted.
fn is_known(message: &str) -> bool {
    let message = message.to_lowercase();
    ["already known", "already imported", "known transaction", "already exists"]
        .iter()
        .any(|words| message.contains(words))
}

/// True if the node definitely rejected the transaction. "Nonce too low" is not such a case: the
/// nonce may be used by this very transaction, sent twice.
fn is_turned_down(message: &str) -> bool {
    let message = message.to_lowercase();
    let words = [
        "insufficient funds",
        "underpriced",
        "intrinsic gas",
        "max fee per gas less than",
        "exceeds block gas limit",
    ];
    words.iter().any(|words| message.contains(words))
}
