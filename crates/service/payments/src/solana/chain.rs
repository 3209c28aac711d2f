//! Queries of a Solana node, and the state of a payment.

use serde_json::{Value, json};
use store::claim::PaymentClaim;
use wallet::solana::{PayerFingerprint, read_payer_fingerprint};
use wallet::{
    ChainNetwork, PaymentProof, SolanaAddress, SolanaCluster, TokenAmount, UnverifiedPayment,
};

use crate::chain_identity::ChainIdentity;
use crate::node::ChainNode;
use crate::settler::{ChainSighting, ConfirmedTransfer, PaymentDecline, SettleFailure};

/// The confirmation level at which a transaction counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SolanaCommitment {
    /// Two thirds of the stake have voted for its block: one or two seconds.
    Confirmed,
    /// Irreversible: about thirteen seconds.
    Finalized,
}

/// Age in blocks at which a blockhash expires, and with it the transactions that name it.
const BLOCKHASH_BLOCKS: u64 = 151;
/// The commitment level that includes the newest blocks.
pub(crate) const NEWEST: &str = "processed";

/// A Solana node and its settings.
#[derive(Debug, Clone, Copy)]
pub struct SolanaNode<'a> {
    pub url: &'a str,
    pub cluster: SolanaCluster,
    pub commitment: SolanaCommitment,
}

/// Solana as seen through one node.
#[derive(Debug)]
pub(crate) struct SolanaChain {
    pub(super) node: ChainNode,
    identity: ChainIdentity,
    cluster: SolanaCluster,
    pub(super) commitment: SolanaCommitment,
}

impl SolanaChain {
    pub(crate) fn new(node: &SolanaNode<'_>) -> Result<SolanaChain, String> {
        let SolanaNode { url, cluster, commitment } = *node;
        let genesis = ChainNetwork::Solana(cluster).reference();
        let identity = ChainIdentity::new(format!("the chain of genesis {genesis}"));
        Ok(SolanaChain { node: ChainNode::new(url)?, identity, cluster, commitment })
    }

    /// Checks which chain the node serves, unless it was checked within the last minute.
    pub(crate) async fn check_node(&self) -> Result<(), SettleFailure> {
        if !self.identity.is_due() {
            return Ok(());
        }
        let genesis = self.genesis_hash().await?;
        let is_right = genesis.starts_with(&ChainNetwork::Solana(self.cluster).reference());
        self.identity.record_check(&format!("the chain of genesis {genesis}"), is_right)
    }

    pub(crate) async fn genesis_hash(&self) -> Result<String, SettleFailure> {
        let hash = self.node.call("getGenesisHash", json!([])).await?;
        hash.as_str().map(str::to_owned).ok_or_else(|| refuse_unclear("a genesis hash"))
    }

    /// The balance of an account in lamports, which pay the fees.
    pub(crate) async fn lamports(&self, account: SolanaAddress) -> Result<u64, SettleFailure> {
        let params = json!([account.to_string(), { "commitment": self.commitment.name() }]);
        let balance = self.node.call("getBalance", params).await?;
        balance["value"].as_u64().ok_or_else(|| refuse_unclear("a balance"))
    }

    pub(crate) async fn account_exists(
        &self,
        account: SolanaAddress,
    ) -> Result<bool, SettleFailure> {
        let params = json!([account.to_string(), { "encoding": "base64" }]);
        let found = self.node.call("getAccountInfo", params).await?;
        Ok(!found["value"].is_null())
    }

    /// The height of the newest block. Solana counts blocks apart from slots, which may be empty.
    pub(crate) async fn height(&self, commitment: &str) -> Result<u64, SettleFailure> {
        self.check_node().await?;
        let params = json!([{ "commitment": commitment }]);
        let height = self.node.call("getBlockHeight", params).await?;
        height.as_u64().ok_or_else(|| refuse_unclear("a block's height"))
    }

    /// A recent blockhash, confirmed by most: a transaction that names it is valid for about a
    /// minute.
    pub(crate) async fn recent_blockhash(&self) -> Result<[u8; 32], SettleFailure> {
        self.check_node().await?;
        let params = json!([{ "commitment": SolanaCommitment::Confirmed.name() }]);
        let block = self.node.call("getLatestBlockhash", params).await?;
        let hash = block["value"]["blockhash"].as_str().and_then(SolanaAddress::parse);
        hash.map(SolanaAddress::bytes).ok_or_else(|| refuse_unclear("a block's hash"))
    }

    pub(super) async fn is_recent(&self, blockhash: [u8; 32]) -> Result<bool, SettleFailure> {
        // A hash is encoded like an address.
        let hash = SolanaAddress::from_bytes(blockhash).to_string();
        let params = json!([hash, { "commitment": NEWEST }]);
        let answer = self.node.call("isBlockhashValid", params).await?;
        answer["value"].as_bool().ok_or_else(|| refuse_unclear("the validity of a blockhash"))
    }

    /// The state of a claim on the chain.
    ///
    /// Checks if the transaction can still land before checking if it has: in the other order, one
    /// that lands in between would look lost.
    pub(crate) async fn look_up(
        &self,
        claim: &PaymentClaim,
    ) -> Result<ChainSighting, SettleFailure> {
        self.check_node().await?;
        let mark = read_payer_mark(claim)?;
        let can_land = self.can_land(claim).await?;
        let transaction = match &claim.sent.transaction {
            Some(transaction) => Some(transaction.clone()),
            None => self.find_by_signature(claim, &mark).await?,
        };
        let status = match &transaction {
            Some(transaction) => self.status(transaction).await?,
            None => Value::Null,
        };
        let Some(transaction) = transaction.filter(|_| !status.is_null()) else {
            return Ok(if can_land {
                report_waiting(None)
            } else {
                ChainSighting::Never(decline_expired())
            });
        };
        if !self.commitment.is_reached(&status) {
            return Ok(report_waiting(Some(transaction)));
        }
        if !status["err"].is_null() {
            return Ok(ChainSighting::Never(decline_failed()));
        }
        match self.received_amount(claim, &transaction).await? {
            Some(amount) => Ok(ChainSighting::Moved(ConfirmedTransfer { amount, transaction })),
            None => Ok(report_waiting(Some(transaction))),
        }
    }

    /// True if a block may still include the transaction. Its blockhash was known when it was
    /// prepared, so it expires some blocks later; measured by the finalized height, which lags
    /// behind all others.
    async fn can_land(&self, claim: &PaymentClaim) -> Result<bool, SettleFailure> {
        let Some(since_block) = claim.sent.since_block else { return Ok(true) };
        let height = self.height("finalized").await?;
        Ok(height <= since_block.saturating_add(BLOCKHASH_BLOCKS))
    }

    pub(crate) async fn status(&self, transaction: &str) -> Result<Value, SettleFailure> {
        let params = json!([[transaction], { "searchTransactionHistory": true }]);
        let statuses = self.node.call("getSignatureStatuses", params).await?;
        Ok(statuses.pointer("/value/0").cloned().unwrap_or_default())
    }

    /// The amount by which the transaction raised our token balance; None if the node does not show
    /// the transaction yet.
    async fn received_amount(
        &self,
        claim: &PaymentClaim,
        transaction: &str,
    ) -> Result<Option<TokenAmount>, SettleFailure> {
        let found = self.transaction(transaction).await?;
        let meta = &found["meta"];
        if meta.is_null() {
            return Ok(None);
        }
        let before = sum_token_balance(&meta["preTokenBalances"], claim)?;
        let after = sum_token_balance(&meta["postTokenBalances"], claim)?;
        let units = after.checked_sub(before).filter(|units| 0 < *units);
        let amount = units.and_then(TokenAmount::from_units);
        amount.map(Some).ok_or_else(|| refuse_unclear("the amount of a transaction"))
    }

    pub(super) async fn transaction(&self, transaction: &str) -> Result<Value, SettleFailure> {
        let options = json!({
            "encoding": "json",
            "commitment": self.commitment.name(),
            "maxSupportedTransactionVersion": 0,
        });
        Ok(self.node.call("getTransaction", json!([transaction, options])).await?)
    }
}

impl SolanaCommitment {
    pub(super) fn name(self) -> &'static str {
        match self {
            SolanaCommitment::Confirmed => "confirmed",
            SolanaCommitment::Finalized => "finalized",
        }
    }

    fn is_reached(self, status: &Value) -> bool {
        match status["confirmationStatus"].as_str() {
            Some("finalized") => true,
            Some("confirmed") => self == SolanaCommitment::Confirmed,
            _ => false,
        }
    }
}

/// Our token balance in the accounts that a transaction lists.
fn sum_token_balance(balances: &Value, claim: &PaymentClaim) -> Result<u64, SettleFailure> {
    let mut held = 0_u64;
    for balance in balances.as_array().map(Vec::as_slice).unwrap_or_default() {
        let is_ours = balance["owner"].as_str() == Some(&claim.pay_to)
            && balance["mint"].as_str() == Some(&claim.asset);
        if !is_ours {
            continue;
        }
        let amount = balance["uiTokenAmount"]["amount"].as_str();
        let amount = amount.and_then(|amount| amount.parse::<u64>().ok());
        let amount = amount.ok_or_else(|| refuse_unclear("a balance of the token"))?;
        held = held.saturating_add(amount);
    }
    Ok(held)
}

pub(super) fn read_payer_mark(claim: &PaymentClaim) -> Result<PayerFingerprint, SettleFailure> {
    let damaged = || SettleFailure::unable("the claim's payment cannot be read");
    let json = serde_json::from_str(&claim.payment).map_err(|_| damaged())?;
    let payment = UnverifiedPayment::read(json).map_err(|_| damaged())?;
    let PaymentProof::Solana { transaction } = payment.proof else { return Err(damaged()) };
    read_payer_fingerprint(&transaction).ok_or_else(damaged)
}

pub(super) fn refuse_unclear(what: &str) -> SettleFailure {
    SettleFailure::Unable(format!("the node did not return {what}"))
}

fn report_waiting(transaction: Option<String>) -> ChainSighting {
    ChainSighting::Waiting { transaction }
}

pub(super) fn decline_expired() -> PaymentDecline {
    PaymentDecline::new(
        "invalid_exact_svm_transaction_expired",
        "The network no longer accepts the transaction, and no money moved: sign a new one",
    )
}

fn decline_failed() -> PaymentDecline {
    PaymentDecline::new(
        "invalid_exact_svm_transaction_failed",
        "The transaction failed when it was carried out, and nothing moved: look at the payer's \
         balance and sign a new one",
    )
}
