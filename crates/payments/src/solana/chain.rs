//! Queries of a Solana node, and the state of a payment.

use serde_json::{Value, json};
use store::claim::Claim;
use wallet::solana::{PayersMark, payers_mark};
use wallet::{Network, Payment, Proof, SolanaAddress, SolanaCluster, TokenAmount};

use crate::identity::Identity;
use crate::node::Node;
use crate::settler::{Decline, Moved, Setback, Sighting};

/// The confirmation level at which a transaction counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commitment {
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
    pub commitment: Commitment,
}

/// Solana as seen through one node.
#[derive(Debug)]
pub(crate) struct SolanaChain {
    pub(super) node: Node,
    identity: Identity,
    cluster: SolanaCluster,
    pub(super) commitment: Commitment,
}

impl SolanaChain {
    pub(crate) fn new(node: &SolanaNode<'_>) -> Result<SolanaChain, String> {
        let SolanaNode { url, cluster, commitment } = *node;
        let genesis = Network::Solana(cluster).reference();
        let identity = Identity::new(format!("the chain of genesis {genesis}"));
        Ok(SolanaChain { node: Node::new(url)?, identity, cluster, commitment })
    }

    /// Checks which chain the node serves, unless it was checked within the last minute.
    pub(crate) async fn identify(&self) -> Result<(), Setback> {
        if !self.identity.is_due() {
            return Ok(());
        }
        let genesis = self.genesis_hash().await?;
        let is_right = genesis.starts_with(&Network::Solana(self.cluster).reference());
        self.identity.judge(&format!("the chain of genesis {genesis}"), is_right)
    }

    pub(crate) async fn genesis_hash(&self) -> Result<String, Setback> {
        let hash = self.node.call("getGenesisHash", json!([])).await?;
        hash.as_str().map(str::to_owned).ok_or_else(|| unclear("a genesis hash"))
    }

    /// The balance of an account in lamports, which pay the fees.
    pub(crate) async fn lamports(&self, account: SolanaAddress) -> Result<u64, Setback> {
        let params = json!([account.to_string(), { "commitment": self.commitment.name() }]);
        let balance = self.node.call("getBalance", params).await?;
        balance["value"].as_u64().ok_or_else(|| unclear("a balance"))
    }

    pub(crate) async fn exists(&self, account: SolanaAddress) -> Result<bool, Setback> {
        let params = json!([account.to_string(), { "encoding": "base64" }]);
        let found = self.node.call("getAccountInfo", params).await?;
        Ok(!found["value"].is_null())
    }

    /// The height of the newest block. Solana counts blocks apart from slots, which may be empty.
    pub(crate) async fn height(&self, commitment: &str) -> Result<u64, Setback> {
        self.identify().await?;
        let params = json!([{ "commitment": commitment }]);
        let height = self.node.call("getBlockHeight", params).await?;
        height.as_u64().ok_or_else(|| unclear("a block's height"))
    }

    /// A recent blockhash, confirmed by most: a transaction that names it is valid for about a
    /// minute.
    pub(crate) async fn recent_blockhash(&self) -> Result<[u8; 32], Setback> {
        self.identify().await?;
        let params = json!([{ "commitment": Commitment::Confirmed.name() }]);
        let block = self.node.call("getLatestBlockhash", params).await?;
        let hash = block["value"]["blockhash"].as_str().and_then(SolanaAddress::parse);
        hash.map(SolanaAddress::bytes).ok_or_else(|| unclear("a block's hash"))
    }

    pub(super) async fn is_recent(&self, blockhash: [u8; 32]) -> Result<bool, Setback> {
        // A hash is encoded like an address.
        let hash = SolanaAddress::from_bytes(blockhash).to_string();
        let params = json!([hash, { "commitment": NEWEST }]);
        let answer = self.node.call("isBlockhashValid", params).await?;
        answer["value"].as_bool().ok_or_else(|| unclear("whether a block is recent"))
    }

    /// The state of a claim on the chain.
    ///
    /// Checks if the transaction can still land before checking if it has: in the other order, one
    /// that lands in between would look lost.
    pub(crate) async fn look(&self, claim: &Claim) -> Result<Sighting, Setback> {
        self.identify().await?;
        let mark = mark_of(claim)?;
        let can_land = self.can_land(claim).await?;
        let transaction = match &claim.sent.transaction {
            Some(transaction) => Some(transaction.clone()),
            None => self.search(claim, &mark).await?,
        };
        let status = match &transaction {
            Some(transaction) => self.status(transaction).await?,
            None => Value::Null,
        };
        let Some(transaction) = transaction.filter(|_| !status.is_null()) else {
            return Ok(if can_land { waiting(None) } else { Sighting::Never(expired()) });
        };
        if !self.commitment.is_reached(&status) {
            return Ok(waiting(Some(transaction)));
        }
        if !status["err"].is_null() {
            return Ok(Sighting::Never(failed()));
        }
        match self.moved(claim, &transaction).await? {
            Some(amount) => Ok(Sighting::Moved(Moved { amount, transaction })),
            None => Ok(waiting(Some(transaction))),
        }
    }

    /// True if a block may still include the transaction. Its blockhash was known when it was
    /// prepared, so it expires some blocks later; measured by the finalized height, which lags
    /// behind all others.
    async fn can_land(&self, claim: &Claim) -> Result<bool, Setback> {
        let Some(since_block) = claim.sent.since_block else { return Ok(true) };
        let height = self.height("finalized").await?;
        Ok(height <= since_block.saturating_add(BLOCKHASH_BLOCKS))
    }

    pub(crate) async fn status(&self, transaction: &str) -> Result<Value, Setback> {
        let params = json!([[transaction], { "searchTransactionHistory": true }]);
        let statuses = self.node.call("getSignatureStatuses", params).await?;
        Ok(statuses.pointer("/value/0").cloned().unwrap_or_default())
    }

    /// The amount by which the transaction raised our token balance; None if the node does not show
    /// the transaction yet.
    async fn moved(
        &self,
        claim: &Claim,
        transaction: &str,
    ) -> Result<Option<TokenAmount>, Setback> {
        let found = self.transaction(transaction).await?;
        let meta = &found["meta"];
        if meta.is_null() {
            return Ok(None);
        }
        let before = held(&meta["preTokenBalances"], claim)?;
        let after = held(&meta["postTokenBalances"], claim)?;
        let units = after.checked_sub(before).filter(|units| 0 < *units);
        let amount = units.and_then(TokenAmount::from_units);
        amount.map(Some).ok_or_else(|| unclear("what a transaction moved"))
    }

    pub(super) async fn transaction(&self, transaction: &str) -> Result<Value, Setback> {
        let options = json!({
            "encoding": "json",
            "commitment": self.commitment.name(),
            "maxSupportedTransactionVersion": 0,
        });
        Ok(self.node.call("getTransaction", json!([transaction, options])).await?)
    }
}

impl Commitment {
    pub(super) fn name(self) -> &'static str {
        match self {
            Commitment::Confirmed => "confirmed",
            Commitment::Finalized => "finalized",
        }
    }

    fn is_reached(self, status: &Value) -> bool {
        match status["confirmationStatus"].as_str() {
            Some("finalized") => true,
            Some("confirmed") => self == Commitment::Confirmed,
            _ => false,
        }
    }
}

/// Our token balance in the accounts that a transaction lists.
fn held(balances: &Value, claim: &Claim) -> Result<u64, Setback> {
    let mut held = 0_u64;
    for balance in balances.as_array().map(Vec::as_slice).unwrap_or_default() {
        let is_ours = balance["owner"].as_str() == Some(&claim.pay_to)
            && balance["mint"].as_str() == Some(&claim.asset);
        if !is_ours {
            continue;
        }
        let amount = balance["uiTokenAmount"]["amount"].as_str();
        let amount = amount.and_then(|amount| amount.parse::<u64>().ok());
        let amount = amount.ok_or_else(|| unclear("a balance of the token"))?;
        held = held.saturating_add(amount);
    }
    Ok(held)
}

pub(super) fn mark_of(claim: &Claim) -> Result<PayersMark, Setback> {
    let damaged = || Setback::unable("the claim's payment cannot be read");
    let json = serde_json::from_str(&claim.payment).map_err(|_| damaged())?;
    let payment = Payment::read(json).map_err(|_| damaged())?;
    let Proof::Solana { transaction } = payment.proof else { return Err(damaged()) };
    payers_mark(&transaction).ok_or_else(damaged)
}

pub(super) fn unclear(what: &str) -> Setback {
    Setback::Unable(format!("the node gave something else than {what}"))
}

fn waiting(transaction: Option<String>) -> Sighting {
    Sighting::Waiting { transaction }
}

pub(super) fn expired() -> Decline {
    Decline::new(
        "invalid_exact_svm_transaction_expired",
        "The network no longer takes the transaction, and nothing moved: sign a new one",
    )
}

fn failed() -> Decline {
    Decline::new(
        "invalid_exact_svm_transaction_failed",
        "The transaction failed when it was carried out, and nothing moved: look at the payer's \
         balance and sign a new one",
    )
}
