//! Checks everything that settling needs, before a payment fails because of it.

use moment::Timestamp;
use serde_json::Value;
use wallet::solana::{TOKEN, token_account};
use wallet::{ChainNetwork, EvmTerms, PaymentTerms, SolanaTerms};

use crate::direct::DirectSettler;
use crate::evm::{EvmChain, EvmRelayer};
use crate::facilitator::FacilitatorSettler;
use crate::settler::SettleFailure;
use crate::solana::{SolanaChain, SolanaCosigner};

/// A chain's newest block is seconds old, so a larger difference is due to our clock or a stuck
/// node.
const SKEW_S_MAX: u64 = 60;
/// Enough for some hundred payments at the fees of 2026; below this it is time to refill.
const RELAYER_COINS_LOW: u128 = 100_000_000_000_000;
const FEE_PAYER_LAMPORTS_LOW: u64 = 5_000_000;

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InspectionFinding {
    /// The setting that was checked, such as `x402.evm_rpc_url`.
    pub about: &'static str,
    pub found: String,
    pub remedy: FindingRemedy,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FindingRemedy {
    /// Nothing to do.
    None,
    /// Payments work, and something should be done soon.
    Advised(String),
    /// Payments fail until something is done.
    Needed(String),
}

impl DirectSettler {
    pub async fn inspect(&self, terms: &PaymentTerms, now: Timestamp) -> Vec<InspectionFinding> {
        let mut findings = Vec::new();
        if let (Some(relayer), Some(evm)) = (&self.evm, &terms.evm) {
            findings.extend(check_evm_chain(&relayer.chain, evm, now).await);
            findings.push(check_relayer_funds(relayer).await);
        }
        if let (Some(cosigner), Some(solana)) = (&self.solana, &terms.solana) {
            findings.extend(check_solana_chain(&cosigner.chain, solana).await);
            findings.push(check_fee_payer_funds(cosigner).await);
        }
        findings
    }
}

impl FacilitatorSettler {
    pub async fn inspect(&self, terms: &PaymentTerms, now: Timestamp) -> Vec<InspectionFinding> {
        let mut findings = Vec::new();
        if let (Some(chain), Some(evm)) = (&self.evm, &terms.evm) {
            findings.extend(check_evm_chain(chain, evm, now).await);
        }
        if let (Some(chain), Some(solana)) = (&self.solana, &terms.solana) {
            findings.extend(check_solana_chain(chain, solana).await);
        }
        match self.supported().await {
            Ok(supported) => findings.extend(check_support(&supported, terms)),
            Err(setback) => findings.push(report_unreachable("x402.facilitator_url", &setback)),
        }
        findings
    }
}

async fn check_evm_chain(
    chain: &EvmChain,
    terms: &EvmTerms,
    now: Timestamp,
) -> Vec<InspectionFinding> {
    const NODE: &str = "x402.evm_rpc_url";
    const ASSET: &str = "x402.asset_evm";
    let chain_id = match chain.chain_id().await {
        Ok(chain_id) => chain_id,
        Err(setback) => return vec![report_unreachable(NODE, &setback)],
    };
    if chain_id != terms.chain_id {
        let wanted = terms.chain_id;
        let fix = format!("use a node of chain {wanted}, or correct `chain_id`");
        return vec![report_needed(NODE, format!("serves chain {chain_id}"), fix)];
    }
    let mut findings = vec![report_fine(NODE, format!("serves chain {chain_id}"))];
    findings.push(match chain.head().await {
        Ok(head) => check_clock_skew(now, head.timestamp_s),
        Err(setback) => report_unreachable(NODE, &setback),
    });
    findings.push(match chain.matches_domain(terms).await {
        Ok(Some(true)) => report_fine(ASSET, "the token's name and version are as configured"),
        Ok(Some(false)) => report_needed(
            ASSET,
            "the token has another EIP-712 name, version or chain than configured",
            "correct `asset_evm_name` and `asset_evm_version`",
        ),
        Ok(None) => report_needed(
            ASSET,
            "there is no EIP-3009 token at this address",
            "correct `asset_evm`",
        ),
        Err(setback) => report_unreachable(ASSET, &setback),
    });
    findings
}

/// Compares our clock with the chain's: authorizations are valid by the chain's time, and we verify
/// them by ours.
fn check_clock_skew(now: Timestamp, block_s: u64) -> InspectionFinding {
    const CLOCK: &str = "x402 clock";
    let now_s = u64::try_from(now.seconds()).unwrap_or(0);
    let apart_s = now_s.abs_diff(block_s);
    if apart_s <= SKEW_S_MAX {
        return report_fine(CLOCK, format!("{apart_s} s from the chain's newest block"));
    }
    let fix = "set this machine's clock, or use a node that is synchronized with its chain";
    let found = format!("{apart_s} s from the chain's newest block");
    InspectionFinding { about: CLOCK, found, remedy: FindingRemedy::Advised(fix.to_owned()) }
}

async fn check_relayer_funds(relayer: &EvmRelayer) -> InspectionFinding {
    const KEY: &str = "x402.evm_relayer_key";
    let address = relayer.address;
    match relayer.chain.coin_balance(address).await {
        Ok(0) => report_needed(KEY, format!("{address} has no coins"), "send it coins for gas"),
        Ok(coins) if coins < RELAYER_COINS_LOW => InspectionFinding {
            about: KEY,
            found: format!("{address} has only {coins} wei"),
            remedy: FindingRemedy::Advised("send it coins for gas".to_owned()),
        },
        Ok(coins) => report_fine(KEY, format!("{address} has {coins} wei for gas")),
        Err(setback) => report_unreachable(KEY, &setback),
    }
}

async fn check_solana_chain(chain: &SolanaChain, terms: &SolanaTerms) -> Vec<InspectionFinding> {
    const NODE: &str = "x402.solana_rpc_url";
    const PAY_TO: &str = "x402.pay_to_solana";
    let genesis = match chain.genesis_hash().await {
        Ok(genesis) => genesis,
        Err(setback) => return vec![report_unreachable(NODE, &setback)],
    };
    let reference = ChainNetwork::Solana(terms.cluster).reference();
    if !genesis.starts_with(&reference) {
        let fix = "use a node of the right cluster, or correct `solana_cluster`";
        return vec![report_needed(NODE, format!("serves the chain of genesis {genesis}"), fix)];
    }
    let mut findings = vec![report_fine(NODE, "serves the right cluster")];
    let account = token_account(terms.pay_to, TOKEN, terms.mint);
    findings.push(match account {
        Some(account) => match chain.account_exists(account).await {
            Ok(true) => report_fine(PAY_TO, format!("its token account {account} exists")),
            Ok(false) => report_needed(
                PAY_TO,
                format!(
                    "its token account {account} does not exist, so it cannot receive payments"
                ),
                "send any amount of the token to this address once, from any wallet",
            ),
            Err(setback) => report_unreachable(PAY_TO, &setback),
        },
        None => report_needed(PAY_TO, "it has no token account", "choose another address"),
    });
    findings
}

async fn check_fee_payer_funds(cosigner: &SolanaCosigner) -> InspectionFinding {
    const KEY: &str = "x402.solana_fee_payer_key";
    let address = cosigner.address();
    match cosigner.chain.lamports(address).await {
        Ok(lamports) if FEE_PAYER_LAMPORTS_LOW <= lamports => {
            report_fine(KEY, format!("{address} has {lamports} lamports for fees"))
        }
        Ok(lamports) => {
            report_needed(KEY, format!("{address} has {lamports} lamports"), "send it SOL for fees")
        }
        Err(setback) => report_unreachable(KEY, &setback),
    }
}

/// Checks that a facilitator settles what the terms offer, and compares its fee payer.
fn check_support(supported: &Value, terms: &PaymentTerms) -> Vec<InspectionFinding> {
    const FACILITATOR: &str = "x402.facilitator_url";
    let kinds = supported["kinds"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut findings = Vec::new();
    for requirement in terms.list_requirements() {
        let network = &requirement.network;
        let kind = kinds.iter().find(|kind| {
            kind["network"].as_str() == Some(network) && kind["scheme"].as_str() == Some("exact")
        });
        let Some(kind) = kind else {
            let fix = format!("use a facilitator that settles {network}, or settle directly");
            findings.push(report_needed(FACILITATOR, format!("does not settle {network}"), fix));
            continue;
        };
        let (theirs, ours) = (&kind["extra"]["feePayer"], requirement.extra.get("feePayer"));
        let is_other = ours.is_some_and(|ours| !theirs.is_null() && ours != theirs);
        findings.push(if is_other {
            let theirs = theirs.as_str().unwrap_or_default();
            let fix = format!("set `solana_fee_payer = \"{theirs}\"`");
            report_needed("x402.solana_fee_payer", format!("the facilitator's is {theirs}"), fix)
        } else {
            report_fine(FACILITATOR, format!("settles {network}"))
        });
    }
    findings
}

fn report_fine(about: &'static str, found: impl Into<String>) -> InspectionFinding {
    InspectionFinding { about, found: found.into(), remedy: FindingRemedy::None }
}

fn report_needed(
    about: &'static str,
    found: impl Into<String>,
    fix: impl Into<String>,
) -> InspectionFinding {
    InspectionFinding { about, found: found.into(), remedy: FindingRemedy::Needed(fix.into()) }
}

fn report_unreachable(about: &'static str, setback: &SettleFailure) -> InspectionFinding {
    report_needed(about, setback.to_string(), "start it, or correct its URL")
}
