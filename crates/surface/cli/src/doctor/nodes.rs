//! Checks that each blockchain node answers, and serves the configured chain.

use std::sync::Arc;

use config::sections::rpc::RpcConfig;
use moment::SystemClock;
use rpc::networks::RpcNetwork;
use rpc::node::check::{ChainCheck, ChainVerdict};
use rpc::node::{ChainNodes, NodeLimits};

use super::CheckFinding;

pub(super) async fn check_chain_nodes(rpc: &RpcConfig) -> Vec<CheckFinding> {
    let addresses = rpc.networks.iter().filter_map(|network| {
        let urls = network.urls.iter().map(|url| url.expose().to_owned()).collect();
        Some((RpcNetwork::parse(network.slug)?, urls))
    });
    let nodes = match ChainNodes::new(addresses, NodeLimits::default(), Arc::new(SystemClock)) {
        Ok(nodes) => nodes,
        Err(error) => {
            let fix = "correct [rpc.networks]";
            return vec![CheckFinding::failed("chain nodes", error.to_string(), fix)];
        }
    };
    let mut findings = Vec::new();
    for network in nodes.networks() {
        let checked = nodes.check_chain(network).await;
        findings.extend(checked.unwrap_or_default().iter().map(|check| to_finding(network, check)));
    }
    findings
}

fn to_finding(network: RpcNetwork, check: &ChainCheck) -> CheckFinding {
    let name = format!("rpc.networks.{}", network.slug());
    let host = &check.host;
    match &check.verdict {
        ChainVerdict::Right => CheckFinding::ok(name, format!("{host} serves this chain")),
        ChainVerdict::WrongChain(id) => {
            let fix = "give the URL of a node of this network";
            CheckFinding::failed(name, format!("{host} serves the chain {id}"), fix)
        }
        ChainVerdict::Silent(reason) => {
            CheckFinding::failed(name, format!("{host}: {reason}"), "start it, or correct its URL")
        }
    }
}
