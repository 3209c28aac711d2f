//! One network's nodes, and the HTTP client for them.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::header::{ACCEPT, HeaderMap, HeaderValue};
use outbound::{
    ConnectSettings, ConnectVia, OutboundClient, RequestTarget, TlsSetupError as NoClient,
};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::health::NodeHealth;
use super::tally::NetworkCounters;
use super::{NodeLimits, NodeSetupError};
use crate::networks::RpcNetwork;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Shorter than the keep-alive of common servers, so that few requests hit a closing connection.
const IDLE_CONNECTION: Duration = Duration::from_secs(30);

pub(super) struct NodePool {
    pub(super) network: RpcNetwork,
    pub(super) nodes: Vec<PoolNode>,
    /// One per node. Locked only to read or update, never across an await.
    health: Mutex<Vec<NodeHealth>>,
    pub(super) in_flight: Semaphore,
    pub(super) tally: NetworkCounters,
}

pub(super) struct PoolNode {
    /// Only the host: the rest of its URL often holds a secret.
    pub(super) host: String,
    pub(super) target: RequestTarget,
}

impl NodePool {
    pub(super) fn new(
        client: &OutboundClient,
        network: RpcNetwork,
        urls: &[String],
        limits: &NodeLimits,
    ) -> Result<NodePool, NodeSetupError> {
        let mut nodes = Vec::with_capacity(urls.len());
        for (position, url) in urls.iter().enumerate() {
            let node =
                build_node(client, url).ok_or(NodeSetupError::BadUrl { network, position })?;
            nodes.push(node);
        }
        let health = Mutex::new(vec![NodeHealth::default(); nodes.len()]);
        let (in_flight, tally) =
            (Semaphore::new(limits.in_flight_max), NetworkCounters::new(network));
        Ok(NodePool { network, nodes, health, in_flight, tally })
    }

    /// Waits for a slot among the concurrent requests; None if there was none before the deadline.
    pub(super) async fn acquire_slot(&self, deadline: Instant) -> Option<SemaphorePermit<'_>> {
        // Usually one is free, and no timer is needed.
        if let Ok(turn) = self.in_flight.try_acquire() {
            return Some(turn);
        }
        timeout_at(deadline, self.in_flight.acquire()).await.ok()?.ok()
    }

    pub(super) fn lock_health(&self) -> MutexGuard<'_, Vec<NodeHealth>> {
        // Health is a hint, so its state after a panic is good enough.
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn build_node(client: &OutboundClient, url: &str) -> Option<PoolNode> {
    let url = Url::parse(url).ok()?;
    let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
    let target = RequestTarget::new(client, &url, headers).ok()?;
    Some(PoolNode { host: url.host_str().unwrap_or_default().to_owned(), target })
}

pub(super) fn build_client() -> Result<OutboundClient, NoClient> {
    let (connect_timeout, idle_max) = (CONNECT_TIMEOUT, IDLE_CONNECTION);
    OutboundClient::new(ConnectSettings { way: ConnectVia::Straight, connect_timeout, idle_max })
}
