//! Queries of an EVM chain's nodes.

use alloy_primitives::hex;
use serde_json::{Value, json};
use store::claim::PaymentClaim;
use wallet::evm::{
    TransactionReceipt, TransferAuthorization, authorization_cancelled_topic,
    authorization_state_call, authorization_used_topics, balance_call, domain_call,
    domain_separator, returned_flag, returned_word,
};
use wallet::{
    ChainNetwork, ContractCheck, EvmAddress, EvmTerms, PaymentProof, PaymentRequirement,
    TokenAmount, UnverifiedPayment,
};

use super::quantity::{decode_bytes, decode_number, decode_u64, encode_quantity};
use crate::chain_identity::ChainIdentity;
use crate::node::{CallError, ChainNode};
use crate::settler::SettleFailure;

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
    pub(super) node: ChainNode,
    identity: ChainIdentity,
    chain_id: u64,
    /// The same chain through other nodes.
    pub(super) others: Vec<EvmChain>,
    /// Blocks that must confirm a transaction, its own included, before it counts.
    pub(super) confirmations: u64,
}

/// The newest block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChainHead {
    pub(crate) number: u64,
    pub(crate) timestamp_s: u64,
    pub(super) base_fee: u128,
}

/// The event in which an authorization was used or cancelled.
pub(super) struct AuthorizationEvent {
    pub(super) transaction: String,
    pub(super) block: u64,
}

impl EvmChain {
    pub(crate) fn new(nodes: &EvmNodes<'_>) -> Result<EvmChain, String> {
        let EvmNodes { chain_id, confirmations, .. } = *nodes;
        let other = |url: &&str| EvmChain::new(&EvmNodes { url, also: &[], ..*nodes });
        Ok(EvmChain {
            node: ChainNode::new(nodes.url)?,
            identity: ChainIdentity::new(format!("chain {chain_id}")),
            chain_id,
            others: nodes.also.iter().map(other).collect::<Result<_, _>>()?,
            confirmations: confirmations.max(1),
        })
    }

    /// Checks which chain the node serves, unless it was checked within the last minute.
    pub(crate) async fn check_node(&self) -> Result<(), SettleFailure> {
        if !self.identity.is_due() {
            return Ok(());
        }
        let served = self.chain_id().await?;
        self.identity.record_check(&format!("chain {served}"), served == self.chain_id)
    }

    /// Checks which chain each node serves.
    pub(crate) async fn check_all_nodes(&self) -> Result<(), SettleFailure> {
        self.check_node().await?;
        for other in &self.others {
            other.check_node().await?;
        }
        Ok(())
    }

    pub(crate) async fn chain_id(&self) -> Result<u64, SettleFailure> {
        decode_u64(&self.node.call("eth_chainId", json!([])).await?)
    }

    /// The newest block. Also checks the node's chain, since every operation starts with this call.
    pub(crate) async fn head(&self) -> Result<ChainHead, SettleFailure> {
        self.check_node().await?;
        let block = self.node.call("eth_getBlockByNumber", json!(["latest", false])).await?;
        // Chains without a base fee omit the field.
        let base_fee = block.get("baseFeePerGas").map_or(Ok(0), decode_number)?;
        Ok(ChainHead {
            number: decode_u64(&block["number"])?,
            timestamp_s: decode_u64(&block["timestamp"])?,
            base_fee,
        })
    }

    /// The balance of an account in the chain's native coin, which pays for gas.
    pub(crate) async fn coin_balance(&self, account: EvmAddress) -> Result<u128, SettleFailure> {
        let params = json!([account.to_string(), "latest"]);
        decode_number(&self.node.call("eth_getBalance", params).await?)
    }

    /// The number of transactions that an account has sent: `latest`, `pending`, or up to a block.
    pub(super) async fn transaction_count(
        &self,
        account: EvmAddress,
        at: &str,
    ) -> Result<u64, SettleFailure> {
        let params = json!([account.to_string(), at]);
        decode_u64(&self.node.call("eth_getTransactionCount", params).await?)
    }

    pub(crate) async fn has_code(&self, account: EvmAddress) -> Result<bool, SettleFailure> {
        let params = json!([account.to_string(), "latest"]);
        Ok(!decode_bytes(&self.node.call("eth_getCode", params).await?)?.is_empty())
    }

    /// True if the authorization was used or cancelled; None if the asset is not such a token.
    pub(super) async fn is_used(
        &self,
        terms: &EvmTerms,
        authorization: &TransferAuthorization,
    ) -> Result<Option<bool>, SettleFailure> {
        let returned =
            self.call_contract(terms.asset, &authorization_state_call(authorization)).await;
        match returned {
            Ok(returned) => Ok(returned_flag(&decode_bytes(&returned)?)),
            // A contract without this function reverts.
            Err(error) if error.is_revert() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The token balance of an account, at most the largest amount we can represent.
    pub(crate) async fn token_balance(
        &self,
        asset: EvmAddress,
        account: EvmAddress,
    ) -> Result<TokenAmount, SettleFailure> {
        let returned = decode_bytes(&self.call_contract(asset, &balance_call(account)).await?)?;
        let word = returned_word(&returned);
        let word = word.ok_or_else(|| SettleFailure::unable("the asset is not a token"))?;
        let units = u64::try_from(word).unwrap_or(u64::MAX);
        let most = TokenAmount::at_most(money::Nano::MAX);
        Ok(TokenAmount::from_units(units).unwrap_or(most))
    }

    pub(super) async fn receipt(
        &self,
        transaction: &str,
    ) -> Result<Option<TransactionReceipt>, SettleFailure> {
        let json = self.node.call("eth_getTransactionReceipt", json!([transaction])).await?;
        if json.is_null() {
            return Ok(None);
        }
        let receipt = TransactionReceipt::parse(&json);
        receipt
            .map(Some)
            .ok_or_else(|| SettleFailure::unable("the node returned an invalid receipt"))
    }

    /// The events in which the authorization was used or cancelled, from a block on.
    pub(super) async fn find_authorization_events(
        &self,
        terms: &EvmTerms,
        authorization: &TransferAuthorization,
        since_block: u64,
    ) -> Result<Vec<AuthorizationEvent>, SettleFailure> {
        let [used, from, nonce] = authorization_used_topics(authorization);
        let events = [used, authorization_cancelled_topic()].map(hex::encode_prefixed);
        let filter = json!({
            "address": terms.asset.to_string(),
            "fromBlock": encode_quantity(since_block.into()),
            "toBlock": "latest",
            "topics": [events, hex::encode_prefixed(from), hex::encode_prefixed(nonce)],
        });
        let logs = self.node.call("eth_getLogs", json!([filter])).await?;
        let mut endings = Vec::new();
        for log in logs.as_array().map(Vec::as_slice).unwrap_or_default() {
            let transaction = log["transactionHash"].as_str();
            let transaction =
                transaction.ok_or_else(|| SettleFailure::unable("a log without a hash"))?;
            let block = decode_u64(&log["blockNumber"])?;
            endings.push(AuthorizationEvent { transaction: transaction.to_owned(), block });
        }
        Ok(endings)
    }

    /// True if the token's EIP-712 domain is that of the terms; None if it is not such a token.
    pub(crate) async fn matches_domain(
        &self,
        terms: &EvmTerms,
    ) -> Result<Option<bool>, SettleFailure> {
        match self.call_contract(terms.asset, &domain_call()).await {
            Ok(returned) => {
                let returned = decode_bytes(&returned)?;
                let is_known = returned.len() == 32;
                Ok(is_known.then(|| returned == domain_separator(terms)))
            }
            Err(error) if error.is_revert() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Checks a contract wallet's signature (ERC-1271). An account without code is not a contract.
    pub(crate) async fn confirms_signature(
        &self,
        check: &ContractCheck,
    ) -> Result<bool, SettleFailure> {
        match self.call_contract(check.account, &check.encode_call()).await {
            // The code is looked up only after a confirmation: a forged sign-in costs one call.
            Ok(returned) if ContractCheck::is_confirmed_by(&decode_bytes(&returned)?) => {
                self.has_code(check.account).await
            }
            Ok(_) => Ok(false),
            // The contract reverted, which is a way to reject the signature.
            Err(error) if error.is_revert() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    async fn call_contract(&self, contract: EvmAddress, input: &[u8]) -> Result<Value, CallError> {
        let call = json!({ "to": contract.to_string(), "input": hex::encode_prefixed(input) });
        self.node.call("eth_call", json!([call, "latest"])).await
    }

    /// The terms of a requirement, as far as reading the chain needs them.
    pub(crate) fn terms(
        &self,
        requirement: &PaymentRequirement,
    ) -> Result<EvmTerms, SettleFailure> {
        let terms = evm_terms(&requirement.network, &requirement.asset, &requirement.pay_to);
        terms.ok_or_else(|| SettleFailure::unable("the terms cannot be read"))
    }

    pub(super) fn is_deep(&self, block: u64, head: ChainHead) -> bool {
        block.saturating_add(self.confirmations) <= head.number.saturating_add(1)
    }
}

/// The terms and the authorization of a claim. The terms are those stored with the claim, even if
/// the configured ones have changed.
pub(super) fn authorization_of(
    claim: &PaymentClaim,
) -> Result<(EvmTerms, TransferAuthorization), SettleFailure> {
    let damaged = || SettleFailure::unable("the claim's payment cannot be read");
    let json = serde_json::from_str(&claim.payment).map_err(|_| damaged())?;
    let payment = UnverifiedPayment::read(json).map_err(|_| damaged())?;
    let PaymentProof::Evm { authorization, .. } = payment.proof else { return Err(damaged()) };
    let terms = evm_terms(&claim.network, &claim.asset, &claim.pay_to).ok_or_else(damaged)?;
    Ok((terms, authorization))
}

/// The terms that reading the chain needs: asset and recipient, without the signing domain.
fn evm_terms(network: &str, asset: &str, pay_to: &str) -> Option<EvmTerms> {
    let ChainNetwork::Evm { chain_id } = ChainNetwork::parse(network)? else { return None };
    Some(EvmTerms {
        chain_id,
        asset: EvmAddress::parse(asset)?,
        asset_name: String::new(),
        asset_version: String::new(),
        pay_to: EvmAddress::parse(pay_to)?,
    })
}
