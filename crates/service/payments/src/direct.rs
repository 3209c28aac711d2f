//! Settles payments directly: our own keys send the transactions and pay the fees.

use std::time::Duration;

use store::claim::{PaymentClaim, SentPayment};
use wallet::{ContractCheck, EvmAddress, SolanaAddress};

use crate::evm::{EvmNodes, EvmRelayer};
use crate::settler::{
    ChainSighting, PaymentPreparation, PaymentSettler, SettleFailure, SettlementOrder,
    SettlerFuture,
};
use crate::solana::{SolanaChain, SolanaCosigner, SolanaNode, parse_signing_key};

/// Sends payments itself, on the chains that it has a key for.
pub struct DirectSettler {
    pub(crate) evm: Option<EvmRelayer>,
    pub(crate) solana: Option<SolanaCosigner>,
}

/// Settings for an EVM chain.
pub struct EvmSetup<'a> {
    pub nodes: EvmNodes<'a>,
    /// 0x and 64 hexadecimal digits.
    pub relayer_key: &'a str,
    /// Per unit of gas, in the chain's smallest unit.
    pub gas_price_max: u128,
    /// For all transactions within an hour, in the chain's smallest unit.
    pub gas_max_per_hour: u128,
    /// Time that a transaction may wait to be mined before its fee is raised.
    pub replace_after: Duration,
}

/// Settings for Solana.
pub struct SolanaSetup<'a> {
    pub node: SolanaNode<'a>,
    pub fee_payer_key: &'a str,
    /// For all transactions within an hour, in lamports.
    pub fees_max_per_hour: u64,
}

impl DirectSettler {
    pub fn new(
        evm: Option<EvmSetup<'_>>,
        solana: Option<SolanaSetup<'_>>,
    ) -> Result<DirectSettler, String> {
        let evm = match evm {
            Some(setup) => Some(EvmRelayer::new(&setup)?),
            None => None,
        };
        let solana = match solana {
            Some(setup) => {
                let chain = SolanaChain::new(&setup.node)?;
                let key = parse_signing_key(setup.fee_payer_key)?;
                Some(SolanaCosigner::new(chain, key, setup.fees_max_per_hour))
            }
            None => None,
        };
        Ok(DirectSettler { evm, solana })
    }

    /// The account that pays for gas.
    pub fn relayer(&self) -> Option<EvmAddress> {
        self.evm.as_ref().map(|relayer| relayer.address)
    }

    /// The account that pays Solana's fees: `feePayer` in the terms.
    pub fn fee_payer(&self) -> Option<SolanaAddress> {
        self.solana.as_ref().map(SolanaCosigner::address)
    }

    fn find_sender(&self, network: &str) -> Result<ChainSender<'_>, SettleFailure> {
        let is_evm = network.starts_with("eip155:");
        match (is_evm, &self.evm, &self.solana) {
            (true, Some(relayer), _) => Ok(ChainSender::Evm(relayer)),
            (false, _, Some(cosigner)) => Ok(ChainSender::Solana(cosigner)),
            _ => Err(SettleFailure::unable("payments on this network are no longer settled")),
        }
    }
}

enum ChainSender<'a> {
    Evm(&'a EvmRelayer),
    Solana(&'a SolanaCosigner),
}

impl PaymentSettler for DirectSettler {
    fn prepare<'a>(&'a self, order: &'a SettlementOrder) -> SettlerFuture<'a, PaymentPreparation> {
        Box::pin(async move {
            match self.find_sender(&order.requirement.network)? {
                ChainSender::Evm(relayer) => relayer.prepare(order).await,
                ChainSender::Solana(cosigner) => cosigner.prepare(order).await,
            }
        })
    }

    fn send<'a>(&'a self, claim: &'a PaymentClaim) -> SettlerFuture<'a, ChainSighting> {
        Box::pin(async move {
            match self.find_sender(&claim.network)? {
                ChainSender::Evm(relayer) => relayer.send(claim).await,
                ChainSender::Solana(cosigner) => cosigner.send(claim).await,
            }
        })
    }

    fn look_up<'a>(&'a self, claim: &'a PaymentClaim) -> SettlerFuture<'a, ChainSighting> {
        Box::pin(async move {
            match self.find_sender(&claim.network)? {
                ChainSender::Evm(relayer) => {
                    relayer.chain.look_up(claim, Some(relayer.address)).await
                }
                ChainSender::Solana(cosigner) => cosigner.chain.look_up(claim).await,
            }
        })
    }

    fn build_replacement<'a>(
        &'a self,
        claim: &'a PaymentClaim,
    ) -> SettlerFuture<'a, Option<SentPayment>> {
        Box::pin(async move {
            match self.find_sender(&claim.network)? {
                ChainSender::Evm(relayer) => relayer.build_replacement(claim).await,
                ChainSender::Solana(_) => Ok(None),
            }
        })
    }

    fn clear_blocking_transactions<'a>(
        &'a self,
        unfinished: &'a [PaymentClaim],
        credited: &'a [PaymentClaim],
    ) -> SettlerFuture<'a, ()> {
        Box::pin(async move {
            match &self.evm {
                Some(relayer) => relayer.clear_blocked_nonce(unfinished, credited).await,
                None => Ok(()),
            }
        })
    }

    fn recent_blockhash(&self) -> SettlerFuture<'_, Option<[u8; 32]>> {
        Box::pin(async move {
            match &self.solana {
                Some(cosigner) => cosigner.chain.recent_blockhash().await.map(Some),
                None => Ok(None),
            }
        })
    }

    fn check_nodes(&self) -> SettlerFuture<'_, ()> {
        Box::pin(async move {
            if let Some(relayer) = &self.evm {
                relayer.chain.check_all_nodes().await?;
            }
            if let Some(cosigner) = &self.solana {
                cosigner.chain.check_node().await?;
            }
            Ok(())
        })
    }

    fn confirms_signature<'a>(&'a self, check: &'a ContractCheck) -> SettlerFuture<'a, bool> {
        Box::pin(async move {
            match &self.evm {
                Some(relayer) => relayer.chain.confirms_signature(check).await,
                None => Ok(false),
            }
        })
    }
}
