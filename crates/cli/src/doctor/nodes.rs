//! Checks that each blockchain node answers, and serves the configured chain.

use std::sync::Arc;

use config::sections::rpc::Rpc;
use moment::SystemClock;
use rpc::networks::Network;
use rpc::node::check::{ChainCheck, Verdict};
use rpc::node::{NodeLimits, Nodes};

use super::Finding;

pub(super) async fn check(rpc: &Rpc) -> Vec<Finding> {
    let addresses = rpc.networks.iter().filter_map(|network| {
        let urls = network.urls.iter().map(|url| url.expose().to_owned()).collect();
        Some((Network::parse(network.slug)?, urls))
    });
    let nodes = match Nodes::new(addresses, NodeLimits::default(), Arc::new(SystemClock)) {
        Ok(nodes) => nodes,
        Err(error) => {
            let fix = "correct [rpc.networks]";
            return vec![Finding::failed("chain nodes", error.to_string(), fix)];
        }
    };
    let mut findings = Vec::new();
    for network in nodes.networks() {
        let checked = nodes.check_chain(network).await;
        findings.extend(checked.unwrap_or_default().iter().map(|check| finding(network, check)));
    }
    findings
}

fn finding(network: Network, check: &ChainCheck) -> Finding {
    let name = format!("rpc.networks.{}", network.slug());
    let host = &check.host;
    match &check.verdict {
        Verdict::Right => Finding::ok(name, format!("{host} serves this chain")),
        Verdict::WrongChain(id) => {
            let fix = "give the URL of a node of this network";
            Finding::failed(name, format!("{host} serves the chain {id}"), fix)
        }
        Verdict::Silent(reason) => {
            Finding::failed(name, format!("{host}: {reason}"), "start it, or correct its URL")
        }
    }
}
