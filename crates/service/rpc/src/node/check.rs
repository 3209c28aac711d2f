//! Checks which chain every node of a network serves: for the operator's checks, and so that no
//! answer of another chain reaches a caller.

use serde::Deserialize;
use tokio::time::Instant;

use super::attempt::PostTarget;
use super::health::ChainState;
use super::pool::NodePool;
use super::send::PostOutcome;
use super::{ChainNodes, NodeError};
use crate::networks::RpcNetwork;

/// The result of checking one node's chain.
#[derive(Debug, PartialEq, Eq)]
pub struct ChainCheck {
    /// The node's index in the configured list, from zero.
    pub position: usize,
    /// Only the host: the rest of a URL often holds a secret.
    pub host: String,
    pub verdict: ChainVerdict,
}

#[derive(Debug, PartialEq, Eq)]
pub enum ChainVerdict {
    Right,
    /// The node serves another chain, with this id.
    WrongChain(u128),
    /// The node did not report its chain; the text says why.
    Silent(String),
}

impl ChainNodes {
    /// Checks every node of every network. A node of another chain is not used until a later check
    /// finds that it serves the right one.
    pub async fn check_chains(&self) {
        for network in self.networks() {
            let Ok(checks) = self.check_chain(network).await else { continue };
            for ChainCheck { position, host, verdict } in checks {
                if let ChainVerdict::WrongChain(id) = verdict {
                    tracing::error!(
                        rpc.network = %network, rpc.upstream = position, rpc.host = host,
                        "node {position} of {network} serves chain {id} and is not used: \
                         correct its URL"
                    );
                }
            }
        }
    }

    /// Checks the nodes one after the other, each within the timeout of one attempt.
    pub async fn check_chain(&self, network: RpcNetwork) -> Result<Vec<ChainCheck>, NodeError> {
        let pool = self.pools.get(network.slug()).ok_or(NodeError::NotConfigured(network))?;
        let mut checks = Vec::with_capacity(pool.nodes.len());
        for (position, node) in pool.nodes.iter().enumerate() {
            let until = Instant::now() + self.limits.attempt_timeout;
            let host = node.host.clone();
            let verdict = self.learn_chain(pool, position, until).await;
            checks.push(ChainCheck { position, host, verdict });
        }
        Ok(checks)
    }

    /// True if a node may be used. A node that was not checked yet is checked first, once for all
    /// requests that wait. One that does not answer counts as failed.
    pub(super) async fn may_ask(&self, pool: &NodePool, upstream: usize, until: Instant) -> bool {
        let chain = pool.lock_health()[upstream].chain();
        match chain {
            ChainState::Right => return true,
            ChainState::Another => return false,
            ChainState::Untold => {}
        }
        let verdict = self.learn_chain(pool, upstream, until).await;
        let network = pool.network;
        match &verdict {
            ChainVerdict::Right => {}
            ChainVerdict::WrongChain(id) => tracing::error!(
                rpc.network = %network, rpc.upstream = upstream,
                "node {upstream} of {network} serves chain {id} and is not used: correct its URL"
            ),
            ChainVerdict::Silent(why) => {
                pool.lock_health()[upstream].record_failure(self.clock.now());
                tracing::warn!(
                    rpc.network = %network, rpc.upstream = upstream,
                    "node {upstream} of {network} is not used yet: no chain id: {why}"
                );
            }
        }
        verdict == ChainVerdict::Right
    }

    async fn learn_chain(&self, pool: &NodePool, upstream: usize, until: Instant) -> ChainVerdict {
        let method = pool.network.chain_id_method();
        // Calls of callers are numbered from one, so the id 0 never collides with theirs.
        let body = format!(r#"{{"jsonrpc":"2.0","id":0,"method":"{method}","params":[]}}"#);
        let target = PostTarget { pool, upstream, spare: None, are_reads: true, until };
        let verdict =
            to_verdict(pool.network, self.post_shared(&target, upstream, body.into()).await);
        match verdict {
            ChainVerdict::Right => pool.lock_health()[upstream].set_chain(ChainState::Right),
            ChainVerdict::WrongChain(_) => {
                pool.lock_health()[upstream].set_chain(ChainState::Another)
            }
            ChainVerdict::Silent(_) => {}
        }
        verdict
    }
}

fn to_verdict(network: RpcNetwork, sent: PostOutcome) -> ChainVerdict {
    let body = match sent {
        PostOutcome::Answered(body) => body,
        PostOutcome::Refused { status, .. } | PostOutcome::TurnedAway { status } => {
            return ChainVerdict::Silent(format!(
                "refused with HTTP {status}: check its URL and key"
            ));
        }
        PostOutcome::TooLarge => {
            return ChainVerdict::Silent(
                "sent a response that is too long for a chain id".to_owned(),
            );
        }
        PostOutcome::Failed(failure) => return ChainVerdict::Silent(failure.to_string()),
    };
    match chain_id(&body) {
        Some(id) if id == network.chain_id() => ChainVerdict::Right,
        Some(id) => ChainVerdict::WrongChain(id),
        None => ChainVerdict::Silent("sent no chain id".to_owned()),
    }
}

fn chain_id(body: &[u8]) -> Option<u128> {
    let answer: ChainIdAnswer = serde_json::from_slice(body).ok()?;
    u128::from_str_radix(answer.result.strip_prefix("0x")?, 16).ok()
}

#[derive(Deserialize)]
struct ChainIdAnswer {
    result: String,
}
