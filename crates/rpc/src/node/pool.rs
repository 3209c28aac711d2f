//! One network's nodes, and the HTTP client that reaches them.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::{Client, Url, redirect};
use tokio::sync::Semaphore;

use super::health::Health;
use super::{NodeLimits, SetupError};
use crate::networks::Network;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Shorter than the keep-alive of common servers, so that few requests meet a closing connection.
const IDLE_CONNECTION: Duration = Duration::from_secs(30);

pub(super) struct Pool {
    pub(super) network: Network,
    pub(super) urls: Vec<Url>,
    /// One per URL. Locked only to read or note something, never while waiting.
    health: Mutex<Vec<Health>>,
    pub(super) in_flight: Semaphore,
}

impl Pool {
    pub(super) fn new(
        network: Network,
        urls: &[String],
        limits: &NodeLimits,
    ) -> Result<Pool, SetupError> {
        let mut parsed = Vec::with_capacity(urls.len());
        for (position, url) in urls.iter().enumerate() {
            let bad = || SetupError::BadUrl { network, position };
            let url = Url::parse(url).map_err(|_| bad())?;
            let is_http = ["http", "https"].contains(&url.scheme());
            parsed.push(if is_http { url } else { return Err(bad()) });
        }
        let health = Mutex::new(vec![Health::default(); parsed.len()]);
        Ok(Pool { network, urls: parsed, health, in_flight: Semaphore::new(limits.in_flight_max) })
    }

    pub(super) fn health(&self) -> MutexGuard<'_, Vec<Health>> {
        // Health is a hint; what a panicking thread left of it is as good as any.
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A node that redirects is misconfigured, and following it could carry a key elsewhere.
pub(super) fn client() -> Result<Client, reqwest::Error> {
    // Fails only if a provider is already there, which is then the one we use.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(IDLE_CONNECTION)
        .tcp_nodelay(true)
        .no_proxy()
        .referer(false)
        .build()
}
