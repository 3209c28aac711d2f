//! Settles payments directly: our own keys send the transactions and pay the fees.

use std::time::Duration;

use store::claim::{Claim, SentPayment};
use wallet::{ContractCheck, EvmAddress, SolanaAddress};

use crate::evm::{EvmNodes, Relayer};
use crate::settler::{Order, Preparation, Setback, Settler, SettlerFuture, Sighting};
use crate::solana::{Cosigner, SolanaChain, SolanaNode, signing_key};

/// Sends payments itself, on the chains that it has a key for.
pub struct Direct {
    pub(crate) evm: Option<Relayer>,
    pub(crate) solana: Option<Cosigner>,
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

impl Direct {
    pub fn new(
        evm: Option<EvmSetup<'_>>,
        solana: Option<SolanaSetup<'_>>,
    ) -> Result<Direct, String> {
        let evm = match evm {
            Some(setup) => Some(Relayer::new(&setup)?),
            None => None,
        };
        let solana = match solana {
            Some(setup) => {
                let chain = SolanaChain::new(&setup.node)?;
                let key = signing_key(setup.fee_payer_key)?;
                Some(Cosigner::new(chain, key, setup.fees_max_per_hour))
            }
            None => None,
        };
        Ok(Direct { evm, solana })
    }

    /// The account that pays for gas.
    pub fn relayer(&self) -> Option<EvmAddress> {
        self.evm.as_ref().map(|relayer| relayer.address)
    }

    /// The account that pays Solana's fees: `feePayer` in the terms.
    pub fn fee_payer(&self) -> Option<SolanaAddress> {
        self.solana.as_ref().map(Cosigner::address)
    }

    fn side(&self, network: &str) -> Result<Side<'_>, Setback> {
        let is_evm = network.starts_with("eip155:");
        match (is_evm, &self.evm, &self.solana) {
            (true, Some(relayer), _) => Ok(Side::Evm(relayer)),
            (false, _, Some(cosigner)) => Ok(Side::Solana(cosigner)),
            _ => Err(Setback::unable("payments on this network are not settled any more")),
        }
    }
}

enum Side<'a> {
    Evm(&'a Relayer),
    Solana(&'a Cosigner),
}

impl Settler for Direct {
    fn prepare<'a>(&'a self, order: &'a Order) -> SettlerFuture<'a, Preparation> {
        Box::pin(async move {
            match self.side(&order.requirement.network)? {
                Side::Evm(relayer) => relayer.prepare(order).await,
                Side::Solana(cosigner) => cosigner.prepare(order).await,
            }
        })
    }

    fn send<'a>(&'a self, claim: &'a Claim) -> SettlerFuture<'a, Sighting> {
        Box::pin(async move {
            match self.side(&claim.network)? {
                Side::Evm(relayer) => relayer.send(claim).await,
                Side::Solana(cosigner) => cosigner.send(claim).await,
            }
        })
    }

    fn look<'a>(&'a self, claim: &'a Claim) -> SettlerFuture<'a, Sighting> {
        Box::pin(async move {
            match self.side(&claim.network)? {
                Side::Evm(relayer) => relayer.chain.look(claim, Some(relayer.address)).await,
                Side::Solana(cosigner) => cosigner.chain.look(claim).await,
            }
        })
    }

    fn replacement<'a>(&'a self, claim: &'a Claim) -> SettlerFuture<'a, Option<SentPayment>> {
        Box::pin(async move {
            match self.side(&claim.network)? {
                Side::Evm(relayer) => relayer.replacement(claim).await,
                Side::Solana(_) => Ok(None),
            }
        })
    }

    fn clear_the_way<'a>(
        &'a self,
        unfinished: &'a [Claim],
        credited: &'a [Claim],
    ) -> SettlerFuture<'a, ()> {
        Box::pin(async move {
            match &self.evm {
                Some(relayer) => relayer.clear_the_row(unfinished, credited).await,
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

    fn identify(&self) -> SettlerFuture<'_, ()> {
        Box::pin(async move {
            if let Some(relayer) = &self.evm {
                relayer.chain.identify_all().await?;
            }
            if let Some(cosigner) = &self.solana {
                cosigner.chain.identify().await?;
            }
            Ok(())
        })
    }

    fn confirms<'a>(&'a self, check: &'a ContractCheck) -> SettlerFuture<'a, bool> {
        Box::pin(async move {
            match &self.evm {
                Some(relayer) => relayer.chain.confirms(check).await,
                None => Ok(false),
            }
        })
    }
}
