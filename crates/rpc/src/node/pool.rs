//! One network's nodes, and the HTTP client for them.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::header::{ACCEPT, HeaderMap, HeaderValue};
use outbound::{Client, ConnectVia, Reach, SetupError as NoClient, Target};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::health::Health;
use super::tally::Tally;
use super::{NodeLimits, SetupError};
use crate::networks::Network;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Shorter than the keep-alive of common servers, so that few requests hit a closing connection.
const IDLE_CONNECTION: Duration = Duration::from_secs(30);

pub(super) struct Pool {
    pub(super) network: Network,
    pub(super) nodes: Vec<Node>,
    /// One per node. Locked only to read or update, never across an await.
    health: Mutex<Vec<Health>>,
    pub(super) in_flight: Semaphore,
    pub(super) tally: Tally,
}

pub(super) struct Node {
    /// Only the host: the rest of its URL often holds a secret.
    pub(super) host: String,
    pub(super) target: Target,
}

impl Pool {
    pub(super) fn new(
        client: &Client,
        network: Network,
        urls: &[String],
        limits: &NodeLimits,
    ) -> Result<Pool, SetupError> {
        let mut nodes = Vec::with_capacity(urls.len());
        for (position, url) in urls.iter().enumerate() {
            let node = node(client, url).ok_or(SetupError::BadUrl { network, position })?;
            nodes.push(node);
        }
        let health = Mutex::new(vec![Health::default(); nodes.len()]);
        let (in_flight, tally) = (Semaphore::new(limits.in_flight_max), Tally::new(network));
        Ok(Pool { network, nodes, health, in_flight, tally })
    }

    /// Waits for a slot among the concurrent requests; None if there was none before the deadline.
    pub(super) async fn enter(&self, deadline: Instant) -> Option<SemaphorePermit<'_>> {
        // Usually one is free, and no timer is needed.
        if let Ok(turn) = self.in_flight.try_acquire() {
            return Some(turn);
        }
        timeout_at(deadline, self.in_flight.acquire()).await.ok()?.ok()
    }

    pub(super) fn health(&self) -> MutexGuard<'_, Vec<Health>> {
        // Health is a hint, so its state after a panic is good enough.
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn node(client: &Client, url: &str) -> Option<Node> {
    let url = Url::parse(url).ok()?;
    let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
    let target = Target::new(client, &url, headers).ok()?;
    Some(Node { host: url.host_str().unwrap_or_default().to_owned(), target })
}

pub(super) fn client() -> Result<Client, NoClient> {
    let (connect_timeout, idle_max) = (CONNECT_TIMEOUT, IDLE_CONNECTION);
    Client::new(Reach { way: ConnectVia::Straight, connect_timeout, idle_max })
}
