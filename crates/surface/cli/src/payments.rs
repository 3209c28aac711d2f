//! Builds the payment settlement from `[x402]`: terms, keys and nodes.

use std::sync::Arc;
use std::time::Duration;

use config::secret::SecretString;
use config::sections::x402::{self, SettlementMethod, X402Config};
use control::operation::OperationError;
use control::payments::{PaymentActionFuture, PaymentActions};
use control::service::ControlService;
use http_frame::nodes::NodeClients;
use money::Nano;
use payments::{
    DirectSettler, EvmNodes, EvmSetup, FacilitatorSettler, PaymentParts, PaymentPolicy,
    PaymentService, PaymentSettler, SettleFailure, SolanaCommitment, SolanaNode, SolanaSetup,
    TopUpRefusal, WitnessNodes,
};
use store::claim::ClaimId;
use store::write::StoreWrite;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;
use wallet::{
    EvmAddress, EvmTerms, PaymentTerms, SolanaAddress, SolanaCluster, SolanaTerms, TokenAmount,
};

use crate::serve::node_operations::NodeOperationSender;

/// One gwei in wei.
const GWEI: u128 = 1_000_000_000;

/// Limits how long the service's start waits for a chain.
const FIRST_ROUND_MAX: Duration = Duration::from_secs(15);

/// A settlement method and its payment terms.
pub(crate) struct PaymentSetup {
    pub(crate) terms: PaymentTerms,
    pub(crate) counter: SettlementClient,
}

pub(crate) enum SettlementClient {
    Direct(Arc<DirectSettler>),
    Facilitator(Arc<FacilitatorSettler>),
}

/// Opens payments; None if no receiving address is configured. First resumes payments that an
/// earlier process left open; a chain that does not answer is retried later.
pub(crate) async fn open_payments(
    section: &X402Config,
    service: &ControlService,
    nodes: Option<&Arc<NodeClients>>,
    tasks: &TaskTracker,
) -> Result<Option<PaymentService>, String> {
    let Some(payments) = build_payments(section, service, tasks)? else { return Ok(None) };
    let hands: Arc<dyn PaymentActions> = Arc::new(PaymentOperations(payments.clone()));
    if let Some(nodes) = nodes {
        payments.set_remote_creditor(Arc::new(NodeOperationSender(Arc::clone(nodes))));
    }
    if service.payments.set(hands).is_err() {
        return Err("payments are opened once".to_owned());
    }
    match timeout(FIRST_ROUND_MAX, payments.check_nodes()).await {
        Ok(Err(wrong @ SettleFailure::WrongChain { .. })) => {
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
struct PaymentOperations(PaymentService);

impl PaymentActions for PaymentOperations {
    fn recheck(&self, claim: ClaimId) -> PaymentActionFuture<'_> {
        Box::pin(async move {
            match self.0.look_up_again(claim).await {
                Ok(settled) => Ok(format!("{} USD by {}", settled.amount, settled.transaction)),
                Err(refused @ (TopUpRefusal::Busy | TopUpRefusal::Unavailable)) => {
                    Err(OperationError::Failed(format!("the chain was not queried: {refused}")))
                }
                Err(refused) => Ok(refused.reason().to_owned()),
            }
        })
    }

    fn abandon(&self, claim: ClaimId, also: Vec<StoreWrite>) -> PaymentActionFuture<'_> {
        Box::pin(async move {
            let given_up = self.0.fail_claim(claim, also).await;
            given_up.map_err(|refused| {
                let message = format!("another operation is changing the payment: {refused}");
                OperationError::Failed(message)
            })?;
            Ok("given up".to_owned())
        })
    }
}

fn build_payments(
    section: &X402Config,
    service: &ControlService,
    tasks: &TaskTracker,
) -> Result<Option<PaymentService>, String> {
    let Some(till) = build_payment_setup(section)? else { return Ok(None) };
    let settler: Arc<dyn PaymentSettler> = match till.counter {
        SettlementClient::Direct(direct) => direct,
        SettlementClient::Facilitator(facilitator) => facilitator,
    };
    let parts = PaymentParts {
        store: Arc::clone(&service.store),
        ledger: Arc::clone(&service.ledger),
        settler,
        clock: Arc::clone(&service.clock),
        tasks: tasks.clone(),
    };
    let policy = PaymentPolicy {
        wait: section.settle_wait,
        replace_after: section.evm.replace_after,
        recheck_after: section.recheck_after,
        ..PaymentPolicy::default()
    };
    Ok(Some(PaymentService::new(parts, till.terms, policy)))
}

pub(crate) fn build_payment_setup(section: &X402Config) -> Result<Option<PaymentSetup>, String> {
    let is_off = section.evm.pay_to.is_none() && section.solana.pay_to.is_none();
    if is_off {
        return Ok(None);
    }
    let counter = match section.settle {
        SettlementMethod::Direct => {
            SettlementClient::Direct(Arc::new(build_direct_settlement(section)?))
        }
        SettlementMethod::Facilitator => {
            SettlementClient::Facilitator(Arc::new(build_facilitator(section)?))
        }
    };
    let fee_payer = match &counter {
        SettlementClient::Direct(direct) => direct.fee_payer(),
        SettlementClient::Facilitator(_) => {
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
    Ok(Some(PaymentSetup { terms, counter }))
}

fn build_direct_settlement(section: &X402Config) -> Result<DirectSettler, String> {
    let (evm, solana) = (&section.evm, &section.solana);
    let also = other_nodes(section);
    let evm = match (evm_nodes(section, &also), &evm.relayer_key) {
        (Some(nodes), Some(relayer_key)) => Some(EvmSetup {
            nodes,
            relayer_key: relayer_key.expose(),
            gas_price_max: u128::from(evm.gas_price_max_gwei) * GWEI,
            gas_max_per_hour: u128::from(to_billionths(evm.gas_max_per_hour)) * GWEI,
            replace_after: evm.replace_after,
        }),
        _ => None,
    };
    let solana = match (solana_node(section), &solana.fee_payer_key) {
        (Some(node), Some(key)) => Some(SolanaSetup {
            node,
            fee_payer_key: key.expose(),
            fees_max_per_hour: to_billionths(solana.fees_max_per_hour),
        }),
        _ => None,
    };
    DirectSettler::new(evm, solana).map_err(|problem| format!("[x402]: {problem}"))
}

fn build_facilitator(section: &X402Config) -> Result<FacilitatorSettler, String> {
    let also = other_nodes(section);
    let witnesses = WitnessNodes { evm: evm_nodes(section, &also), solana: solana_node(section) };
    let url = section.facilitator_url.as_deref().unwrap_or_default();
    FacilitatorSettler::new(url, &witnesses).map_err(|problem| format!("[x402]: {problem}"))
}

/// Returns the amount in billionths of a coin, which are gwei or lamports.
fn to_billionths(coins: Nano) -> u64 {
    u64::try_from(coins.nanos()).unwrap_or(0)
}

fn other_nodes(section: &X402Config) -> Vec<&str> {
    section.evm.rpc_urls.iter().map(SecretString::expose).collect()
}

fn evm_nodes<'a>(section: &'a X402Config, also: &'a [&'a str]) -> Option<EvmNodes<'a>> {
    let evm = &section.evm;
    let url = evm.rpc_url.as_ref().filter(|_| evm.pay_to.is_some())?;
    let (chain_id, confirmations) = (evm.chain_id, evm.confirmations);
    Some(EvmNodes { url: url.expose(), also, chain_id, confirmations })
}

fn solana_node(section: &X402Config) -> Option<SolanaNode<'_>> {
    let solana = &section.solana;
    let url = solana.rpc_url.as_ref().filter(|_| solana.pay_to.is_some())?;
    let (cluster, commitment) = (to_solana_cluster(section), to_commitment(section));
    Some(SolanaNode { url: url.expose(), cluster, commitment })
}

fn evm_terms(section: &X402Config) -> Result<Option<EvmTerms>, String> {
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
    section: &X402Config,
    fee_payer: Option<SolanaAddress>,
) -> Result<Option<SolanaTerms>, String> {
    let solana = &section.solana;
    let Some(pay_to) = &solana.pay_to else { return Ok(None) };
    let fee_payer = fee_payer.ok_or("[x402]: there is no fee payer for Solana")?;
    let address = |key: &str, text: &str| {
        SolanaAddress::parse(text).ok_or_else(|| format!("[x402] {key}: {text} is no address"))
    };
    Ok(Some(SolanaTerms {
        cluster: to_solana_cluster(section),
        mint: address("asset_solana", &solana.asset)?,
        pay_to: address("pay_to_solana", pay_to)?,
        fee_payer,
    }))
}

/// Parses an address and verifies its checksum, because money sent to a mistyped address is lost.
fn evm_address(key: &str, text: &str) -> Result<EvmAddress, String> {
    EvmAddress::parse_checksummed(text).ok_or_else(|| {
        format!("[x402] {key}: the checksum of {text} is wrong; copy the address again")
    })
}

fn to_solana_cluster(section: &X402Config) -> SolanaCluster {
    match section.solana.cluster {
        x402::SolanaClusterSetting::Mainnet => SolanaCluster::Mainnet,
        x402::SolanaClusterSetting::Devnet => SolanaCluster::Devnet,
    }
}

fn to_commitment(section: &X402Config) -> SolanaCommitment {
    match section.solana.commitment {
        x402::CommitmentSetting::Confirmed => SolanaCommitment::Confirmed,
        x402::CommitmentSetting::Finalized => SolanaCommitment::Finalized,
    }
}
