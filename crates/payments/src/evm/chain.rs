//! Queries of an EVM chain's nodes.

use alloy_primitives::hex;
use serde_json::{Value, json};
use store::claim::Claim;
use wallet::evm::{
    Authorization, Receipt, authorization_cancelled_topic, authorization_state_call,
    authorization_used_topics, balance_call, domain_call, domain_separator, returned_flag,
    returned_word,
};
use wallet::{
    ContractCheck, EvmAddress, EvmTerms, Network, Payment, Proof, Requirement, TokenAmount,
};

use super::quantity::{bytes, number, number_u64, quantity};
use crate::identity::Identity;
use crate::node::{CallError, Node};
use crate::settler::Setback;

/// The nodes of an EVM chain, and its settings.
#[derive(Debug, Clone, Copy)]
pub struct EvmNodes<'a> {
    pub url: &'a str,
    /// Further nodes, all of which must show a payment before it is credited.
    pub also: &'a [&'a str],
    pub chain_id: u64,
    /// Blocks that must confirm a payment, its own included.
    pub confirmations: u64,
}

/// A chain as seen through one of its nodes.
#[derive(Debug)]
pub(crate) struct EvmChain {
    pub(super) node: Node,
    identity: Identity,
    chain_id: u64,
    /// The same chain through other nodes.
    pub(super) others: Vec<EvmChain>,
    /// Blocks that must confirm a transaction, its own included, before it counts.
    pub(super) confirmations: u64,
}

/// The newest block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    pub(crate) number: u64,
    pub(crate) timestamp_s: u64,
    pub(super) base_fee: u128,
}

/// The event in which an authorization was used or cancelled.
pub(super) struct Ending {
    pub(super) transaction: String,
    pub(super) block: u64,
}

impl EvmChain {
    pub(crate) fn new(nodes: &EvmNodes<'_>) -> Result<EvmChain, String> {
        let EvmNodes { chain_id, confirmations, .. } = *nodes;
        let other = |url: &&str| EvmChain::new(&EvmNodes { url, also: &[], ..*nodes });
        Ok(EvmChain {
            node: Node::new(nodes.url)?,
            identity: Identity::new(format!("chain {chain_id}")),
            chain_id,
            others: nodes.also.iter().map(other).collect::<Result<_, _>>()?,
            confirmations: confirmations.max(1),
        })
    }

    /// Checks which chain the node serves, unless it was checked within the last minute.
    pub(crate) async fn identify(&self) -> Result<(), Setback> {
        if !self.identity.is_due() {
            return Ok(());
        }
        let served = self.chain_id().await?;
        self.identity.judge(&format!("chain {served}"), served == self.chain_id)
    }

    /// Checks which chain each node serves.
    pub(crate) async fn identify_all(&self) -> Result<(), Setback> {
        self.identify().await?;
        for other in &self.others {
            other.identify().await?;
        }
        Ok(())
    }

    pub(crate) async fn chain_id(&self) -> Result<u64, Setback> {
        number_u64(&self.node.call("eth_chainId", json!([])).await?)
    }

    /// The newest block. Also checks the node's chain, since every operation starts with this call.
    pub(crate) async fn head(&self) -> Result<Head, Setback> {
        self.identify().await?;
        let block = self.node.call("eth_getBlockByNumber", json!(["latest", false])).await?;
        // Chains without a base fee omit the field.
        let base_fee = block.get("baseFeePerGas").map_or(Ok(0), number)?;
        Ok(Head {
            number: number_u64(&block["number"])?,
            timestamp_s: number_u64(&block["timestamp"])?,
            base_fee,
        })
    }

    /// The balance of an account in the chain's native coin, which pays for gas.
    pub(crate) async fn coins(&self, account: EvmAddress) -> Result<u128, Setback> {
        let params = json!([account.to_string(), "latest"]);
        number(&self.node.call("eth_getBalance", params).await?)
    }

    /// The number of transactions that an account has sent: `latest`, `pending`, or up to a block.
    pub(super) async fn sent(&self, account: EvmAddress, at: &str) -> Result<u64, Setback> {
        let params = json!([account.to_string(), at]);
        number_u64(&self.node.call("eth_getTransactionCount", params).await?)
    }

    pub(crate) async fn has_code(&self, account: EvmAddress) -> Result<bool, Setback> {
        let params = json!([account.to_string(), "latest"]);
        Ok(!bytes(&self.node.call("eth_getCode", params).await?)?.is_empty())
    }

    /// True if the authorization was used or cancelled; None if the asset is not such a token.
    pub(super) async fn is_used(
        &self,
        terms: &EvmTerms,
        authorization: &Authorization,
    ) -> Result<Option<bool>, Setback> {
        let returned = self.ask(terms.asset, &authorization_state_call(authorization)).await;
        match returned {
            Ok(returned) => Ok(returned_flag(&bytes(&returned)?)),
            // A contract without this function reverts.
            Err(error) if error.is_revert() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The token balance of an account, at most the largest amount we can represent.
    pub(crate) async fn tokens(
        &self,
        asset: EvmAddress,
        account: EvmAddress,
    ) -> Result<TokenAmount, Setback> {
        let returned = bytes(&self.ask(asset, &balance_call(account)).await?)?;
        let word = returned_word(&returned);
        let word = word.ok_or_else(|| Setback::unable("the asset is not a token"))?;
        let units = u64::try_from(word).unwrap_or(u64::MAX);
        let most = TokenAmount::at_most(money::Nano::MAX);
        Ok(TokenAmount::from_units(units).unwrap_or(most))
    }

    pub(super) async fn receipt(&self, transaction: &str) -> Result<Option<Receipt>, Setback> {
        let json = self.node.call("eth_getTransactionReceipt", json!([transaction])).await?;
        if json.is_null() {
            return Ok(None);
        }
        let receipt = Receipt::parse(&json);
        receipt.map(Some).ok_or_else(|| Setback::unable("the node gave a receipt that is none"))
    }

    /// The events in which the authorization was used or cancelled, from a block on.
    pub(super) async fn endings(
        &self,
        terms: &EvmTerms,
        authorization: &Authorization,
        since_block: u64,
    ) -> Result<Vec<Ending>, Setback> {
        let [used, from, nonce] = authorization_used_topics(authorization);
        let events = [used, authorization_cancelled_topic()].map(hex::encode_prefixed);
        let filter = json!({
            "address": terms.asset.to_string(),
            "fromBlock": quantity(since_block.into()),
            "toBlock": "latest",
            "topics": [events, hex::encode_prefixed(from), hex::encode_prefixed(nonce)],
        });
        let logs = self.node.call("eth_getLogs", json!([filter])).await?;
        let mut endings = Vec::new();
        for log in logs.as_array().map(Vec::as_slice).unwrap_or_default() {
            let transaction = log["transactionHash"].as_str();
            let transaction = transaction.ok_or_else(|| Setback::unable("a log without a hash"))?;
            let block = number_u64(&log["blockNumber"])?;
            endings.push(Ending { transaction: transaction.to_owned(), block });
        }
        Ok(endings)
    }

    /// True if the token's EIP-712 domain is that of the terms; None if it is not such a token.
    pub(crate) async fn domain(&self, terms: &EvmTerms) -> Result<Option<bool>, Setback> {
        match self.ask(terms.asset, &domain_call()).await {
            Ok(returned) => {
                let returned = bytes(&returned)?;
                let is_known = returned.len() == 32;
                Ok(is_known.then(|| returned == domain_separator(terms)))
            }
            Err(error) if error.is_revert() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Checks a contract wallet's signature (ERC-1271). An account without code is not a contract.
    pub(crate) async fn confirms(&self, check: &ContractCheck) -> Result<bool, Setback> {
        match self.ask(check.account, &check.call()).await {
            // The code is looked up only after a confirmation: a forged sign-in costs one call.
            Ok(returned) if ContractCheck::is_confirmed_by(&bytes(&returned)?) => {
                self.has_code(check.account).await
            }
            Ok(_) => Ok(false),
            // The contract reverted, which is a way to reject the signature.
            Err(error) if error.is_revert() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    async fn ask(&self, contract: EvmAddress, input: &[u8]) -> Result<Value, CallError> {
        let call = json!({ "to": contract.to_string(), "input": hex::encode_prefixed(input) });
        self.node.call("eth_call", json!([call, "latest"])).await
    }

    /// The terms of a requirement, as far as reading the chain needs them.
    pub(crate) fn terms(&self, requirement: &Requirement) -> Result<EvmTerms, Setback> {
        let terms = evm_terms(&requirement.network, &requirement.asset, &requirement.pay_to);
        terms.ok_or_else(|| Setback::unable("the terms cannot be read"))
    }

    pub(super) fn is_deep(&self, block: u64, head: Head) -> bool {
        block.saturating_add(self.confirmations) <= head.number.saturating_add(1)
    }
}

/// The terms and the authorization of a claim. The terms are those stored with the claim, even if
/// the configured ones have changed.
pub(super) fn authorization_of(claim: &Claim) -> Result<(EvmTerms, Authorization), Setback> {
    let damaged = || Setback::unable("the claim's payment cannot be read");
    let json = serde_json::from_str(&claim.payment).map_err(|_| damaged())?;
    let payment = Payment::read(json).map_err(|_| damaged())?;
    let Proof::Evm { authorization, .. } = payment.proof else { return Err(damaged()) };
    let terms = evm_terms(&claim.network, &claim.asset, &claim.pay_to).ok_or_else(damaged)?;
    Ok((terms, authorization))
}

/// The terms that reading the chain needs: asset and recipient, without the signing domain.
fn evm_terms(network: &str, asset: &str, pay_to: &str) -> Option<EvmTerms> {
    let Network::Evm { chain_id } = Network::parse(network)? else { return None };
    Some(EvmTerms {
        chain_id,
        asset: EvmAddress::parse(asset)?,
        asset_name: String::new(),
        asset_version: String::new(),
        pay_to: EvmAddress::parse(pay_to)?,
    })
}
