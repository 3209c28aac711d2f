//! Sends requests over connections that are kept for the next one.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::uri::Scheme;
use http::{HeaderValue, Request, Uri};
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use lanes::PerLane;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

use crate::answer::Answer;
use crate::connect::{Connector, Network, Ways};
use crate::content::{Body, Content};
use crate::error::OutboundError;
use crate::plain::Plain;
use crate::proxy::Proxies;
use crate::target::Target;

/// How servers are reached.
#[derive(Debug, Clone)]
pub struct Reach {
    pub way: ConnectVia,
    /// To the end of the handshakes, with a proxy's.
    pub connect_timeout: Duration,
    /// How long an unused connection is kept.
    pub idle_max: Duration,
}

#[derive(Debug, Clone)]
pub enum ConnectVia {
    Straight,
    /// Through the proxies that the environment names, if it does.
    ByEnvironment,
    /// Over a Unix socket, without TLS; the hosts of addresses mean nothing then.
    Socket(PathBuf),
}

#[derive(Debug, thiserror::Error)]
#[error("the system's certificates cannot be used: {0}")]
pub struct SetupError(#[from] rustls::Error);

/// Connections to servers; its clones share them. Each lane keeps those that it has opened.
#[derive(Clone)]
pub struct Client {
    connections: Arc<PerLane<Connections>>,
    connector: Connector,
}

struct Connections {
    plain: Arc<Plain>,
    /// Those over TLS, which may turn out to be HTTP/2, and those that a proxy reads.
    others: legacy::Client<Connector, Body>,
}

impl Client {
    pub fn new(reach: Reach) -> Result<Client, SetupError> {
        Ok(Client::over(ways(reach.way, reach.connect_timeout)?, reach.idle_max))
    }

    /// Through these proxies, whatever the environment says.
    #[cfg(test)]
    pub(crate) fn through(proxies: Proxies) -> Client {
        let second = Duration::from_secs(1);
        Client::over(network(proxies, second).unwrap(), second)
    }

    fn over(ways: Ways, idle_max: Duration) -> Client {
        let connector = Connector::new(ways);
        let for_lane = connector.clone();
        let make = move || connections(&for_lane, idle_max);
        Client { connections: Arc::new(PerLane::new(make)), connector }
    }

    pub async fn post(&self, target: &Target, content: Content) -> Result<Answer, OutboundError> {
        if let Some(plain) = target.plain() {
            return self.connections.get().plain.send(plain, plain.post.fill(content)).await;
        }
        self.send(target.post(content)).await
    }

    /// Asks without a body; `rest` is what follows the target's address.
    pub async fn get(&self, target: &Target, rest: &str) -> Result<Answer, OutboundError> {
        let uri =
            target.longer(rest).map_err(|error| OutboundError::Unreached(error.to_string()))?;
        if let Some(plain) = target.plain() {
            return self.connections.get().plain.send(plain, target.plain_get(&uri)).await;
        }
        self.send(target.get(uri)).await
    }

    /// Puts nothing: some servers are told to stop that way.
    pub async fn put(&self, target: &Target) -> Result<Answer, OutboundError> {
        if let Some(plain) = target.plain() {
            return self.connections.get().plain.send(plain, target.plain_put()).await;
        }
        self.send(target.put_nothing()).await
    }

    pub(crate) fn proxy_credentials(&self, server: &Uri) -> Option<HeaderValue> {
        self.connector.proxies()?.credentials(server)
    }

    /// Whether connections to a server are without TLS, and it reads our requests itself.
    pub(crate) fn is_plain(&self, server: &Uri) -> bool {
        let proxies = self.connector.proxies();
        let is_proxied = proxies.is_some_and(|proxies| proxies.before(server).is_some());
        server.scheme() == Some(&Scheme::HTTP) && !is_proxied
    }

    async fn send(&self, request: Request<Body>) -> Result<Answer, OutboundError> {
        let sent = self.connections.get().others.request(request).await;
        sent.map(Answer::new).map_err(|error| OutboundError::of_request(&error))
    }
}

fn connections(connector: &Connector, idle_max: Duration) -> Connections {
    let others = legacy::Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(idle_max)
        .build(connector.clone());
    Connections { plain: Plain::new(connector.clone(), idle_max), others }
}

fn ways(way: ConnectVia, connect_timeout: Duration) -> Result<Ways, SetupError> {
    match way {
        ConnectVia::Socket(path) => Ok(Ways::Socket { path, connect_timeout }),
        ConnectVia::Straight => network(Proxies::none(), connect_timeout),
        ConnectVia::ByEnvironment => network(Proxies::from_environment(), connect_timeout),
    }
}

fn network(proxies: Proxies, connect_timeout: Duration) -> Result<Ways, SetupError> {
    let tls_to_proxy = tls_of_system().or_else(|_| tls_without_roots())?;
    let mut tls = tls_to_proxy.clone();
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let (tls, tls_to_proxy) = (Arc::new(tls), Arc::new(tls_to_proxy));
    Ok(Ways::Network(Box::new(Network { connect_timeout, proxies, tls, tls_to_proxy })))
}

fn tls_of_system() -> Result<ClientConfig, SetupError> {
    Ok(ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth())
}

/// A machine without root certificates trusts nobody with https, and needs none without it.
fn tls_without_roots() -> Result<ClientConfig, SetupError> {
    Ok(ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth())
}
