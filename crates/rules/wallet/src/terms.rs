//! The operator's payment terms, and the requirements that clients see.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::address::{EvmAddress, SolanaAddress};
use crate::amount::TokenAmount;
use crate::network::{ChainNetwork, SolanaCluster};

/// The only accepted x402 scheme: exactly the signed amount moves.
pub const SCHEME: &str = "exact";

/// The operator's terms. Tokens, recipients and chains come from here and never from a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentTerms {
    /// None if payments on the EVM chain are not accepted.
    pub evm: Option<EvmTerms>,
    /// None if payments on Solana are not accepted.
    pub solana: Option<SolanaTerms>,
    pub minimum: TokenAmount,
    /// Equal to the minimum if the amount must be exact.
    pub maximum: TokenAmount,
    /// The validity of a client's authorization, and the time for settling, in seconds.
    pub timeout_s: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvmTerms {
    pub chain_id: u64,
    pub asset: EvmAddress,
    /// The token's name and version in its EIP-712 domain: `USD Coin` and `2` for USDC on Base.
    pub asset_name: String,
    pub asset_version: String,
    pub pay_to: EvmAddress,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SolanaTerms {
    pub cluster: SolanaCluster,
    pub mint: SolanaAddress,
    pub pay_to: SolanaAddress,
    /// Pays the network's fee for the payer: our own key, or the facilitator's.
    pub fee_payer: SolanaAddress,
}

/// One entry of `accepts`: a way to pay, in the protocol's format.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentRequirement {
    pub scheme: &'static str,
    pub network: String,
    pub amount: String,
    pub asset: String,
    pub pay_to: String,
    pub max_timeout_seconds: u32,
    pub extra: Map<String, Value>,
}

/// The reason why an amount is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmountFault {
    TooLow { minimum: TokenAmount },
    TooHigh { maximum: TokenAmount },
}

impl PaymentTerms {
    /// Every way to pay, the EVM chain first: some clients take the first entry blindly, and
    /// support only that one.
    pub fn list_requirements(&self) -> Vec<PaymentRequirement> {
        let networks = [self.evm_network(), self.solana_network()];
        networks
            .into_iter()
            .flatten()
            .filter_map(|network| self.build_requirement(network, self.minimum))
            .collect()
    }

    /// The entry for one network with a given amount. A facilitator requires the amount to equal
    /// the signed one, which may be above the minimum in `accepts`.
    pub fn build_requirement(
        &self,
        network: ChainNetwork,
        amount: TokenAmount,
    ) -> Option<PaymentRequirement> {
        let (asset, pay_to, extra) = match network {
            ChainNetwork::Evm { chain_id } => {
                let terms = self.evm.as_ref().filter(|terms| terms.chain_id == chain_id)?;
                let extra = json!({ "name": terms.asset_name, "version": terms.asset_version });
                (terms.asset.to_string(), terms.pay_to.to_string(), extra)
            }
            ChainNetwork::Solana(cluster) => {
                let terms = self.solana.as_ref().filter(|terms| terms.cluster == cluster)?;
                let extra = json!({ "feePayer": terms.fee_payer.to_string() });
                (terms.mint.to_string(), terms.pay_to.to_string(), extra)
            }
        };
        Some(PaymentRequirement {
            scheme: SCHEME,
            network: network.to_string(),
            amount: amount.to_string(),
            asset,
            pay_to,
            max_timeout_seconds: self.timeout_s,
            extra: extra.as_object().cloned().unwrap_or_default(),
        })
    }

    pub(crate) fn check_amount(&self, amount: TokenAmount) -> Result<(), AmountFault> {
        if amount < self.minimum {
            return Err(AmountFault::TooLow { minimum: self.minimum });
        }
        if self.maximum < amount {
            return Err(AmountFault::TooHigh { maximum: self.maximum });
        }
        Ok(())
    }

    fn evm_network(&self) -> Option<ChainNetwork> {
        self.evm.as_ref().map(EvmTerms::network)
    }

    fn solana_network(&self) -> Option<ChainNetwork> {
        self.solana.as_ref().map(SolanaTerms::network)
    }
}

impl EvmTerms {
    pub fn network(&self) -> ChainNetwork {
        ChainNetwork::Evm { chain_id: self.chain_id }
    }
}

impl SolanaTerms {
    pub fn network(&self) -> ChainNetwork {
        ChainNetwork::Solana(self.cluster)
    }
}
