//! What a node of an EVM chain is asked.

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

/// Where an EVM chain is read.
#[derive(Debug, Clone, Copy)]
pub struct EvmNodes<'a> {
    pub url: &'a str,
    /// Nodes of others, all of which must show a payment before it is credited.
    pub also: &'a [&'a str],
    pub chain_id: u64,
    /// Blocks that must stand on a payment, its own included.
    pub confirmations: u64,
}

/// A chain as one of its nodes shows it.
#[derive(Debug)]
pub(crate) struct EvmChain {
    pub(super) node: Node,
    identity: Identity,
    chain_id: u64,
    /// What other nodes show.
    pub(super) others: Vec<EvmChain>,
    /// Blocks that must stand on a transaction, its own included, before it counts.
    pub(super) confirmations: u64,
}

/// The newest block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    pub(crate) number: u64,
    pub(crate) timestamp_s: u64,
    pub(super) base_fee: u128,
}

/// An event in which an authorization came to its end.
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

    /// Asks the node which chain it serves, unless it was asked a moment ago.
    pub(crate) async fn identify(&self) -> Result<(), Setback> {
        if !self.identity.is_due() {
            return Ok(());
        }
        let served = self.chain_id().await?;
        self.identity.judge(&format!("chain {served}"), served == self.chain_id)
    }

    /// The same of all nodes.
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

    /// Everything that is sent or believed begins with it.
    pub(crate) async fn head(&self) -> Result<Head, Setback> {
        self.identify().await?;
        let block = self.node.call("eth_getBlockByNumber", json!(["latest", false])).await?;
        // Chains without a base fee take none.
        let base_fee = block.get("baseFeePerGas").map_or(Ok(0), number)?;
        Ok(Head {
            number: number_u64(&block["number"])?,
            timestamp_s: number_u64(&block["timestamp"])?,
            base_fee,
        })
    }

    /// What an account holds of the chain's own coin, which pays for gas.
    pub(crate) async fn coins(&self, account: EvmAddress) -> Result<u128, Setback> {
        let params = json!([account.to_string(), "latest"]);
        number(&self.node.call("eth_getBalance", params).await?)
    }

    /// How many transactions an account has sent: `latest`, `pending`, or up to a block.
    pub(super) async fn sent(&self, account: EvmAddress, at: &str) -> Result<u64, Setback> {
        let params = json!([account.to_string(), at]);
        number_u64(&self.node.call("eth_getTransactionCount", params).await?)
    }

    pub(crate) async fn has_code(&self, account: EvmAddress) -> Result<bool, Setback> {
        let params = json!([account.to_string(), "latest"]);
        Ok(!bytes(&self.node.call("eth_getCode", params).await?)?.is_empty())
    }

    /// Whether the authorization was used or cancelled; none if the asset is no such token.
    pub(super) async fn is_used(
        &self,
        terms: &EvmTerms,
        authorization: &Authorization,
    ) -> Result<Option<bool>, Setback> {
        let returned = self.ask(terms.asset, &authorization_state_call(authorization)).await;
        match returned {
            Ok(returned) => Ok(returned_flag(&bytes(&returned)?)),
            // A contract that does not know the question reverts.
            Err(error) if error.is_revert() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// What the payer holds of the token, as far as an amount can tell.
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

    /// Where the authorization was used or cancelled, from a block on.
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

    /// Whether the token's own domain is that of the terms; none if there is no such token.
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

    /// ERC-1271: without code there is no contract, and so no signature of one.
    pub(crate) async fn confirms(&self, check: &ContractCheck) -> Result<bool, Setback> {
        match self.ask(check.account, &check.call()).await {
            // The code is looked up only for what claims to be a contract: a forged sign-in costs
            // one call.
            Ok(returned) if ContractCheck::is_confirmed_by(&bytes(&returned)?) => {
                self.has_code(check.account).await
            }
            Ok(_) => Ok(false),
            // The contract reverted, which is one way of saying no.
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

/// What a claim is about. The terms are those of the claim, whatever they are by now.
pub(super) fn authorization_of(claim: &Claim) -> Result<(EvmTerms, Authorization), Setback> {
    let damaged = || Setback::unable("the claim's payment cannot be read");
    let json = serde_json::from_str(&claim.payment).map_err(|_| damaged())?;
    let payment = Payment::read(json).map_err(|_| damaged())?;
    let Proof::Evm { authorization, .. } = payment.proof else { return Err(damaged()) };
    let terms = evm_terms(&claim.network, &claim.asset, &claim.pay_to).ok_or_else(damaged)?;
    Ok((terms, authorization))
}

/// The terms as far as reading the chain needs them: not what was signed, but what moved where.
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
