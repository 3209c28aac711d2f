//! Builds the payment settlement from `[x402]`: terms, keys and nodes.

use std::sync::Arc;
use std::time::Duration;

use api::home::Nodes;
use config::secret::Secret;
use config::sections::x402::{self, Settle, X402};
use control::operation::OperationError;
use control::payments::{PaymentDesk, Told};
use control::service::Service;
use money::Nano;
use payments::{
    Commitment, Direct, EvmNodes, EvmSetup, Facilitator, Parts, Payments, Policy, Setback, Settler,
    SolanaNode, SolanaSetup, TopUpRefused, Witnesses,
};
use store::claim::ClaimId;
use store::write::Write;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;
use wallet::{
    EvmAddress, EvmTerms, PaymentTerms, SolanaAddress, SolanaCluster, SolanaTerms, TokenAmount,
};

use crate::serve::orders::Sender;

/// One gwei in wei.
const GWEI: u128 = 1_000_000_000;

/// Limits how long the service's start waits for a chain.
const FIRST_ROUND_MAX: Duration = Duration::from_secs(15);

/// A settlement method and its payment terms.
pub(crate) struct Till {
    pub(crate) terms: PaymentTerms,
    pub(crate) counter: Counter,
}

pub(crate) enum Counter {
    Direct(Arc<Direct>),
    Facilitator(Arc<Facilitator>),
}

/// Opens payments; None if no receiving address is configured. First resumes payments that an
/// earlier process left open; a chain that does not answer is retried later.
pub(crate) async fn open(
    section: &X402,
    service: &Service,
    nodes: Option<&Arc<Nodes>>,
    tasks: &TaskTracker,
) -> Result<Option<Payments>, String> {
    let Some(payments) = payments(section, service, tasks)? else { return Ok(None) };
    let hands: Arc<dyn PaymentDesk> = Arc::new(Hands(payments.clone()));
    if let Some(nodes) = nodes {
        payments.share(Arc::new(Sender(Arc::clone(nodes))));
    }
    if service.payments.set(hands).is_err() {
        return Err("payments are opened once".to_owned());
    }
    match timeout(FIRST_ROUND_MAX, payments.identify()).await {
        Ok(Err(wrong @ Setback::WrongChain { .. })) => {
            return Err(format!(
                "[x402]: {wrong}. Correct the node's URL, or the chain; until then no payment can be \
                 taken, and none should be"
            ));
        }
        Ok(Err(setback)) => {
            tracing::warn!(cause = %setback, "a chain cannot be asked yet: {setback}");
        }
        Ok(Ok(())) => {}
        Err(_) => tracing::warn!("a chain does not answer yet"),
    }
    match timeout(FIRST_ROUND_MAX, payments.reconcile()).await {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => return Err(error.to_string()),
        Err(_) => tracing::warn!("payments of an earlier run are looked up in the background"),
    }
    Ok(Some(payments))
}

/// Payment operations for operators while the service runs.
struct Hands(Payments);

impl PaymentDesk for Hands {
    fn ask_again(&self, claim: ClaimId) -> Told<'_> {
        Box::pin(async move {
            match self.0.ask_again(claim).await {
                Ok(settled) => Ok(format!("{} USD by {}", settled.amount, settled.transaction)),
                Err(refused @ (TopUpRefused::Busy | TopUpRefused::Unavailable)) => {
                    Err(OperationError::Failed(format!("the chain was not asked: {refused}")))
                }
                Err(refused) => Ok(refused.reason().to_owned()),
            }
        })
    }

    fn abandon(&self, claim: ClaimId, also: Vec<Write>) -> Told<'_> {
        Box::pin(async move {
            let given_up = self.0.abandon(claim, also).await;
            given_up.map_err(|refused| {
                let message = format!("somebody is at work on the payment: {refused}");
                OperationError::Failed(message)
            })?;
            Ok("given up".to_owned())
        })
    }
}

fn payments(
    section: &X402,
    service: &Service,
    tasks: &TaskTracker,
) -> Result<Option<Payments>, String> {
    let Some(till) = till(section)? else { return Ok(None) };
    let settler: Arc<dyn Settler> = match till.counter {
        Counter::Direct(direct) => direct,
        Counter::Facilitator(facilitator) => facilitator,
    };
    let parts = Parts {
        store: Arc::clone(&service.store),
        ledger: Arc::clone(&service.ledger),
        settler,
        clock: Arc::clone(&service.clock),
        tasks: tasks.clone(),
    };
    let policy = Policy {
        wait: section.settle_wait,
        replace_after: section.evm.replace_after,
        recheck_after: section.recheck_after,
        ..Policy::default()
    };
    Ok(Some(Payments::new(parts, till.terms, policy)))
}

pub(crate) fn till(section: &X402) -> Result<Option<Till>, String> {
    let is_off = section.evm.pay_to.is_none() && section.solana.pay_to.is_none();
    if is_off {
        return Ok(None);
    }
    let counter = match section.settle {
        Settle::Direct => Counter::Direct(Arc::new(direct(section)?)),
        Settle::Facilitator => Counter::Facilitator(Arc::new(facilitator(section)?)),
    };
    let fee_payer = match &counter {
        Counter::Direct(direct) => direct.fee_payer(),
        Counter::Facilitator(_) => {
            section.solana.fee_payer.as_deref().and_then(SolanaAddress::parse)
        }
    };
    let terms = PaymentTerms {
        evm: evm_terms(section)?,
        solana: solana_terms(section, fee_payer)?,
        minimum: TokenAmount::at_least(section.minimum),
        maximum: TokenAmount::at_most(section.maximum),
        timeout_s: u32::try_from(section.timeout.as_secs()).unwrap_or(u32::MAX),
    };
    Ok(Some(Till { terms, counter }))
}

fn direct(section: &X402) -> Result<Direct, String> {
    let (evm, solana) = (&section.evm, &section.solana);
    let also = other_nodes(section);
    let evm = match (evm_nodes(section, &also), &evm.relayer_key) {
        (Some(nodes), Some(relayer_key)) => Some(EvmSetup {
            nodes,
            relayer_key: relayer_key.expose(),
            gas_price_max: u128::from(evm.gas_price_max_gwei) * GWEI,
            gas_max_per_hour: u128::from(billionths(evm.gas_max_per_hour)) * GWEI,
            replace_after: evm.replace_after,
        }),
        _ => None,
    };
    let solana = match (solana_node(section), &solana.fee_payer_key) {
        (Some(node), Some(key)) => Some(SolanaSetup {
            node,
            fee_payer_key: key.expose(),
            fees_max_per_hour: billionths(solana.fees_max_per_hour),
        }),
        _ => None,
    };
    Direct::new(evm, solana).map_err(|problem| format!("[x402]: {problem}"))
}

fn facilitator(section: &X402) -> Result<Facilitator, String> {
    let also = other_nodes(section);
    let witnesses = Witnesses { evm: evm_nodes(section, &also), solana: solana_node(section) };
    let url = section.facilitator_url.as_deref().unwrap_or_default();
    Facilitator::new(url, &witnesses).map_err(|problem| format!("[x402]: {problem}"))
}

/// Returns the amount in billionths of a coin, which are gwei or lamports.
fn billionths(coins: Nano) -> u64 {
    u64::try_from(coins.nanos()).unwrap_or(0)
}

fn other_nodes(section: &X402) -> Vec<&str> {
    section.evm.rpc_urls.iter().map(Secret::expose).collect()
}

fn evm_nodes<'a>(section: &'a X402, also: &'a [&'a str]) -> Option<EvmNodes<'a>> {
    let evm = &section.evm;
    let url = evm.rpc_url.as_ref().filter(|_| evm.pay_to.is_some())?;
    let (chain_id, confirmations) = (evm.chain_id, evm.confirmations);
    Some(EvmNodes { url: url.expose(), also, chain_id, confirmations })
}

fn solana_node(section: &X402) -> Option<SolanaNode<'_>> {
    let solana = &section.solana;
    let url = solana.rpc_url.as_ref().filter(|_| solana.pay_to.is_some())?;
    let (cluster, commitment) = (cluster(section), commitment(section));
    Some(SolanaNode { url: url.expose(), cluster, commitment })
}

fn evm_terms(section: &X402) -> Result<Option<EvmTerms>, String> {
    let evm = &section.evm;
    let Some(pay_to) = &evm.pay_to else { return Ok(None) };
    Ok(Some(EvmTerms {
        chain_id: evm.chain_id,
        asset: evm_address("asset_evm", &evm.asset)?,
        asset_name: evm.asset_name.clone(),
        asset_version: evm.asset_version.clone(),
        pay_to: evm_address("pay_to_evm", pay_to)?,
    }))
}

fn solana_terms(
    section: &X402,
    fee_payer: Option<SolanaAddress>,
) -> Result<Option<SolanaTerms>, String> {
    let solana = &section.solana;
    let Some(pay_to) = &solana.pay_to else { return Ok(None) };
    let fee_payer = fee_payer.ok_or("[x402]: there is no fee payer for Solana")?;
    let address = |key: &str, text: &str| {
        SolanaAddress::parse(text).ok_or_else(|| format!("[x402] {key}: {text} is no address"))
    };
    Ok(Some(SolanaTerms {
        cluster: cluster(section),
        mint: address("asset_solana", &solana.asset)?,
        pay_to: address("pay_to_solana", pay_to)?,
        fee_payer,
    }))
}

/// Parses an address and verifies its checksum, because money sent to a mistyped address is lost.
fn evm_address(key: &str, text: &str) -> Result<EvmAddress, String> {
    EvmAddress::parse_checksummed(text).ok_or_else(|| {
        format!("[x402] {key}: the checksum of {text} is wrong; copy the address once more")
    })
}

fn cluster(section: &X402) -> SolanaCluster {
    match section.solana.cluster {
        x402::Cluster::Mainnet => SolanaCluster::Mainnet,
        x402::Cluster::Devnet => SolanaCluster::Devnet,
    }
}

fn commitment(section: &X402) -> Commitment {
    match section.solana.commitment {
        x402::Commitment::Confirmed => Commitment::Confirmed,
        x402::Commitment::Finalized => Commitment::Finalized,
    }
}
